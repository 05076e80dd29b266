import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { collectingLogger, unendedStream } from '@call-webhooks/contract-tests';
import fastify from 'fastify';
import { callWebhooks, generateSecret } from '../src/index.ts';

beforeEach(
  () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterEach(() => void jest.useRealTimers());

it.each([
  [413, 'x'.repeat(5_000), {}],
  [415, 'x', { 'content-encoding': 'gzip' }],
])(
  'over HTTP/2, a stream that never ends is closed 2 s after %i',
  async (status, body, headers) => {
    const app = fastify({ http2: true });
    const logger = collectingLogger();
    app.register(callWebhooks, {
      secret: generateSecret(),
      logger,
      path: '/hook',
      bodyLimit: 1_000,
    });
    await app.ready();
    const listener = (...given: unknown[]) =>
      app.routing(...(given as Parameters<typeof app.routing>));
    const stream = await unendedStream(listener, body, {
      'content-type': 'application/json',
      ...headers,
    });
    expect(stream.status).toBe(status);
    await jest.advanceTimersByTimeAsync(2_000);
    await stream.closed();
    stream.close();
    await app.close();
  },
);
