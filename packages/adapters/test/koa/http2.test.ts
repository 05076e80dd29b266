import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { collectingLogger, unendedStream } from '@call-webhooks/contract-tests';
import Koa from 'koa';
import { callWebhooks, generateSecret } from '../../src/koa.ts';

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
    const logger = collectingLogger();
    const hook = callWebhooks({ secret: generateSecret(), logger, bodyLimit: 1_000 });
    const listener = new Koa().use(hook).callback();
    const stream = await unendedStream((req, res) => void listener(req, res), body, headers);
    expect(stream.status).toBe(status);
    await jest.advanceTimersByTimeAsync(2_000);
    await stream.closed();
    stream.close();
  },
);
