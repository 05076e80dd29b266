import { expect, it, jest } from '@jest/globals';

// As on Workers, where the timers of a request end with it. Nothing may import core before this.
jest.unstable_mockModule('#platform', () => import('../../src/platform/web.ts'));
const { createReceiver, generateSecret, sign } = await import('../../src/index.ts');

const secret = generateSecret();
const body = new TextEncoder().encode('{"eventName":"call:started"}');

it('deliveries do not wait for ever for a provider whose request was cancelled', async () => {
  const calls: string[] = [];
  const provider = () => {
    calls.push('called');
    return calls.length === 1 ? new Promise<never>(() => undefined) : secret;
  };
  const log = () => undefined;
  const { receive } = createReceiver({ secret: provider, logger: { warn: log, error: log } });
  // Signed before the clock is moved: how long a signature takes is not known.
  const signed = await Promise.all([1, 2, 3].map(async () => sign({ secret, body })));
  const send = async () => {
    const headers = signed.shift() as Record<string, string>;
    return (await receive({ headers, body })).outcome.outcome;
  };
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const timers = jest.spyOn(globalThis, 'setTimeout').mockReturnValue(0 as never);
    void send(); // is cancelled: neither its provider nor its timers go on
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    timers.mockRestore();
    const second = send();
    const ended: unknown[] = [];
    void second.then((outcome) => ended.push(outcome));
    while (ended.length === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      jest.advanceTimersByTime(500);
    }
    expect(await second).toBe('secret-unavailable');
    expect(await send()).toBe('ignored');
    expect(calls).toHaveLength(2);
  } finally {
    jest.useRealTimers();
  }
});
