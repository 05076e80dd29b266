import { afterEach, describe, expect, it } from '@jest/globals';
import { generateSecret, type ReceiverOptions } from '@call-webhooks/core';
import {
  callBody,
  collectingLogger,
  serveLocally,
  startSender,
} from '@call-webhooks/contract-tests';
import { callWebhooks } from '../src/index.ts';
import { callWebhooks as pagesCallWebhooks } from '../src/pages.ts';
import { routeHandlerServer } from './route-handler-server.ts';

const routers = {
  'App Router': {
    make: callWebhooks,
    serve: (options: ReceiverOptions) => routeHandlerServer(callWebhooks(options)),
  },
  'Pages Router': {
    make: pagesCallWebhooks,
    serve(options: ReceiverOptions) {
      const handler = pagesCallWebhooks(options);
      return serveLocally((request, response) => void handler(request, response));
    },
  },
};

describe.each(Object.entries(routers))('%s', (_name, { make, serve }) => {
  afterEach(() => {
    delete process.env['NEXT_PHASE'];
  });

  it('a secret that is missing fails at the first delivery: 503, and a line in the log', async () => {
    const logger = collectingLogger();
    const { origin, close } = await serve({ secret: undefined, logger });
    const sender = startSender(`${origin}/hook`, generateSecret());
    expect(await sender.post(callBody('c1'))).toEqual({
      status: 503,
      outcome: 'secret-unavailable',
    });
    await close();
    expect(logger.lines).toEqual([expect.stringContaining('Is the environment variable set?')]);
  });

  it('so does one of several', async () => {
    const logger = collectingLogger();
    const secret = [generateSecret(), process.env['RECORDING_WEBHOOK_SECRET']];
    const { origin, close } = await serve({ secret, logger });
    const sender = startSender(`${origin}/hook`, generateSecret());
    expect((await sender.post(callBody('c1'))).status).toBe(503);
    await close();
    expect(logger.lines).toEqual([expect.stringContaining('position 2 of the list is undefined')]);
  });

  it('an invalid secret throws, but not before the first use while next build looks at the routes', () => {
    expect(() => make({ secret: 'x' })).toThrow('whsec_');
    process.env['NEXT_PHASE'] = 'phase-production-build';
    const handler = make({ secret: 'x' });
    expect(() => handler.receiver).toThrow('whsec_');
    expect(make({ secret: generateSecret() }).receiver).toBeDefined();
  });
});
