import type { RequestListener } from 'node:http';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  adapterContractTests,
  callBody,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';
import { callWebhooks, generateSecret, ready, type SvelteKitEvent } from '../../src/sveltekit.ts';
import { buildApp, built, startApp, typeErrors, type RunningApp } from './built-app.ts';

let serve: RequestListener;
beforeAll(async () => {
  await buildApp();
  ({ handler: serve } = (await import(built('handler.js'))) as { handler: RequestListener });
}, 600_000);

const mounted = globalThis as { mountedHandler?(event: SvelteKitEvent): Promise<Response> };

for (const path of ['/receiver', '/receiver/']) {
  adapterContractTests({
    name: `SvelteKit, ${path}`,
    host: {
      needsContentType: true,
      // SvelteKit's own check of what forms of other sites could send: deliveries are JSON.
      refuses(method, contentType) {
        if (/^(?:text\/plain|multipart\/form-data)/.test(contentType)) return 403;
        return method === 'TRACE' ? 400 : undefined;
      },
    },
    async mount(options) {
      const handler = callWebhooks(options);
      const probed = ready(handler);
      // The built app has one route for all receivers of these tests.
      const { origin, close } = await serveLocally((request, response) => {
        mounted.mountedHandler = request.url === '/receiver?ready' ? probed : handler;
        serve(request, response);
      });
      return {
        url: origin + path,
        readyUrl: `${origin}/receiver?ready`,
        receiver: handler.receiver,
        close,
      };
    },
  });
}

it('is a request handler of SvelteKit, by its types', async () => {
  expect(await typeErrors()).toBe('');
});

describe('an app that was built without the secret, from the sample of the README', () => {
  let app: RunningApp | undefined;
  afterEach(() => app?.stop());

  it.each(['/hook', '/hook/'])('%s receives deliveries once the secret is set', async (path) => {
    const secret = generateSecret();
    app = await startApp({
      CALL_WEBHOOK_SECRET: secret,
      RECORDING_WEBHOOK_SECRET: generateSecret(),
    });
    const sender = startSender(app.url + path, secret);
    expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'handled' });
    expect(await sender.post(callBody('c1'))).toEqual({ status: 200, outcome: 'duplicate' });
    const forged = await sender.post(callBody('c2'), { secret: generateSecret() });
    expect(forged.outcome).toBe('signature-mismatch');
    expect((await sender.raw('', { method: 'GET' })).status).toBe(405);
    expect(app.output()).toContain('c1 ended at');
  });

  it('responds 503 while the secret is missing, and logs why', async () => {
    app = await startApp();
    const sender = startSender(`${app.url}/hook`, generateSecret());
    expect(await sender.post(callBody('c1'))).toEqual({
      status: 503,
      outcome: 'secret-unavailable',
    });
    expect(app.output()).toContain('Is the environment variable set?');
  });
});
