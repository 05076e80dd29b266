import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { keepLock } from '../src/bullmq-lock.ts';

/** A third of it is 10 s. */
const DURATION = 30_000;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** A lock that is kept. @param extendLock what BullMQ's job does */
function kept(extendLock: () => Promise<number>) {
  const controller = new AbortController();
  const extend = jest.fn(extendLock);
  const onLost = jest.fn();
  const stop = keepLock({ extendLock: extend }, 'token', {
    ...{ duration: DURATION, signal: controller.signal, onLost },
  });
  return { extend, onLost, stop, controller };
}

describe('the lock of a run', () => {
  it('is extended by its whole duration each time a third has passed', async () => {
    const { extend, onLost, stop } = kept(() => Promise.resolve(1));
    await jest.advanceTimersByTimeAsync(9_999);
    expect(extend).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(extend.mock.calls).toEqual([['token', DURATION]]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(extend).toHaveBeenCalledTimes(3);
    expect(onLost).not.toHaveBeenCalled();
    stop();
  });

  it('is reported once if another run has it, and extended no more', async () => {
    const { extend, onLost } = kept(() => Promise.resolve(0));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(extend).toHaveBeenCalledTimes(1);
  });

  it('is extended later if Redis does not answer', async () => {
    const { extend, onLost, stop } = kept(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(20_000);
    expect(extend).toHaveBeenCalledTimes(2);
    expect(onLost).not.toHaveBeenCalled();
    stop();
  });

  it.each(['stopped', 'aborted'])('is left alone once the run is %s', async (how) => {
    const { extend, stop, controller } = kept(() => Promise.resolve(1));
    if (how === 'stopped') stop();
    else controller.abort();
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(extend).not.toHaveBeenCalled();
  });

  it.each([0, 1])(
    'is left alone once the run has ended while it was extended, with reply %d',
    async (reply) => {
      const replied = deferred<number>();
      const { extend, onLost, stop } = kept(() => replied.promise);
      await jest.advanceTimersByTimeAsync(10_000);
      stop();
      replied.resolve(reply);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(extend).toHaveBeenCalledTimes(1);
      expect(onLost).not.toHaveBeenCalled();
    },
  );

  it('leaves no listener on the signal of a run that ended', () => {
    const { stop, controller } = kept(() => Promise.resolve(1));
    const remove = jest.spyOn(controller.signal, 'removeEventListener');
    stop();
    expect(remove).toHaveBeenCalledWith('abort', stop);
  });
});
