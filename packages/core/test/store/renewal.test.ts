import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { keepRenewed, ownTimer } from '../../src/internal.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a lease that is kept renewed', () => {
  const renewed = (renew: () => Promise<boolean>) => {
    const onLost = jest.fn();
    const calls = jest.fn(renew);
    const stop = keepRenewed({ every: 100, renew: calls, onLost, wait: ownTimer });
    return { stop, onLost, calls };
  };

  it('is renewed at each interval until it is stopped', async () => {
    const { stop, onLost, calls } = renewed(() => Promise.resolve(true));
    await jest.advanceTimersByTimeAsync(350);
    expect(calls).toHaveBeenCalledTimes(3);
    stop();
    await jest.advanceTimersByTimeAsync(1_000);
    expect(calls).toHaveBeenCalledTimes(3);
    expect(onLost).not.toHaveBeenCalled();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is renewed for the first time an interval after it was taken, whenever that was', async () => {
    const calls = jest.fn(() => Promise.resolve(true));
    const since = performance.now() - 70;
    const lease = { every: 100, renew: calls, onLost: () => undefined, wait: ownTimer };
    const stop = keepRenewed(lease, since);
    await jest.advanceTimersByTimeAsync(29);
    expect(calls).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(2);
    expect(calls).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(98);
    expect(calls).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(3);
    expect(calls).toHaveBeenCalledTimes(2);
    stop();
  });

  it.each<[string, () => Promise<boolean>]>([
    ['hangs', () => new Promise(() => undefined)],
    ['rejects', () => Promise.reject(new Error('no connection'))],
    [
      'throws',
      () => {
        throw new Error('no client');
      },
    ],
  ])('goes on after a renewal that %s', async (_what, fail) => {
    let count = 0;
    const { stop, onLost, calls } = renewed(() => (count++ === 0 ? fail() : Promise.resolve(true)));
    await jest.advanceTimersByTimeAsync(350);
    expect(calls).toHaveBeenCalledTimes(3);
    expect(onLost).not.toHaveBeenCalled();
    stop();
  });

  it('tells once that it was lost, and not after it was stopped', async () => {
    const lost = renewed(() => Promise.resolve(false));
    await jest.advanceTimersByTimeAsync(350);
    expect([lost.calls.mock.calls.length, lost.onLost.mock.calls.length]).toEqual([1, 1]);
    const stopped = renewed(() => Promise.resolve(false));
    await jest.advanceTimersByTimeAsync(99);
    stopped.stop();
    await jest.advanceTimersByTimeAsync(350);
    expect(stopped.onLost).not.toHaveBeenCalled();
  });
});
