import { expect, it } from '@jest/globals';
import {
  adapterContractTests,
  collectingLogger,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { callWebhooks, ready } from '../src/pages.ts';

adapterContractTests({
  name: 'Next.js Pages Router',
  async mount(options) {
    const handler = callWebhooks(options);
    const probed = ready(handler);
    const { origin, close } = await serveLocally(
      (request, response) => void (request.url === '/ready' ? probed : handler)(request, response),
    );
    const [url, readyUrl] = [`${origin}/hook`, `${origin}/ready`];
    return { url, readyUrl, receiver: handler.receiver, close };
  },
});

it('a body that the body parser of Next has read: 500, and one line with the fix', async () => {
  const [secret, logger] = [generateSecret(), collectingLogger()];
  const handler = callWebhooks({ secret, logger });
  const { origin, close } = await serveLocally(
    (request, response) => void handler(Object.assign(request, { body: { parsed: 1 } }), response),
  );
  const reply = await startSender(`${origin}/hook`, secret).raw('');
  await close();
  expect(reply).toEqual({ status: 500, outcome: 'body-already-parsed' });
  expect(logger.lines).toEqual([
    expect.stringContaining('export const config = { api: { bodyParser: false } }'),
  ]);
});
