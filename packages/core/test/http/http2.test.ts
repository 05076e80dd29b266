import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { unendedStream } from '@call-webhooks/contract-tests';
import { setup } from '../node-support.ts';

beforeEach(
  () => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }),
);
afterEach(() => void jest.useRealTimers());

it.each([
  [405, 'x', { ':method': 'PUT' }],
  [408, 'x', {}],
  [413, 'x'.repeat(5_000), {}],
  [413, 'x', { 'content-length': '5000' }],
  [415, 'x', { 'content-encoding': 'gzip' }],
])(
  'over HTTP/2, a stream that never ends is closed 2 s after %i',
  async (status, body, headers) => {
    const { post } = setup({ bodyLimit: 1_000, bodyTimeout: 500 });
    const listener = (...given: Parameters<typeof post>) => {
      void post(...given);
      // Once the receiver waits for the body.
      if (status === 408) setImmediate(() => jest.advanceTimersByTime(500));
    };
    const stream = await unendedStream(listener, body, headers);
    expect(stream.status).toBe(status);
    await jest.advanceTimersByTimeAsync(2_000);
    await stream.closed();
    stream.close();
  },
);
