import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DeadlineScheduler, TimeoutError } from '../../src/time.ts';
import { deferred, runs, SEED } from '../support.ts';

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(1_000); // so that no time is 0
});
afterEach(() => void jest.useRealTimers());

describe('DeadlineScheduler', () => {
  it('fires each deadline at its time, with one timer', () => {
    const delays = fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(delays, (all) => {
        const scheduler = new DeadlineScheduler();
        const start = performance.now();
        const woken: number[] = [];
        for (const ms of all) {
          scheduler.add({ place: 0, at: start + ms, onReached: () => void woken.push(ms) });
          expect(jest.getTimerCount()).toBe(1);
        }
        for (let t = 1; t <= 501; t++) {
          jest.advanceTimersByTime(1);
          const now = performance.now() - start;
          expect(woken.every((ms) => ms <= now)).toBe(true);
          expect(woken).toHaveLength(all.filter((ms) => ms <= now).length);
        }
        expect(jest.getTimerCount()).toBe(0);
      }),
      { seed: SEED, numRuns: runs(20) },
    );
  });

  it('keeps no process alive, also where timers are numbers', () => {
    jest.useRealTimers();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout');
    const before = timers().length;
    const deadline = { place: 0, at: performance.now() + 60_000, onReached: () => undefined };
    new DeadlineScheduler().add(deadline);
    expect(timers()).toHaveLength(before);
    const number = jest.spyOn(globalThis, 'setTimeout').mockReturnValue(1 as never);
    expect(() => new DeadlineScheduler().add(deadline)).not.toThrow();
    number.mockRestore();
  });

  it('does not fire deleted deadlines', () => {
    const scheduler = new DeadlineScheduler();
    const onReached = jest.fn();
    const deadline = { place: 0, at: performance.now() + 10, onReached };
    scheduler.add(deadline);
    scheduler.delete(deadline);
    jest.advanceTimersByTime(20);
    expect(onReached).not.toHaveBeenCalled();
  });

  it('fires deadlines that are added while it fires', () => {
    const scheduler = new DeadlineScheduler();
    const second = jest.fn();
    const inTen = (onReached: () => void) => ({
      ...{ place: 0, at: performance.now() + 10, onReached },
    });
    scheduler.add(
      inTen(() => {
        scheduler.add(inTen(second));
      }),
    );
    jest.advanceTimersByTime(19);
    expect(second).not.toHaveBeenCalled();
    jest.advanceTimersByTime(2);
    expect(second).toHaveBeenCalledTimes(1);
  });

  it('resolves with the value of a promise in time', async () => {
    const scheduler = new DeadlineScheduler();
    await expect(scheduler.withTimeout(10, Promise.resolve(1))).resolves.toBe(1);
    await expect(scheduler.withTimeout(10, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('rejects when a promise is slow, and drops its later rejection', async () => {
    const scheduler = new DeadlineScheduler();
    const slow = deferred();
    const result = expect(scheduler.withTimeout(10, slow.promise)).rejects.toBeInstanceOf(
      TimeoutError,
    );
    await jest.advanceTimersByTimeAsync(11);
    await result;
    expect(new TimeoutError(5).name).toBe('TimeoutError');
    slow.reject(new Error('late'));
    await jest.advanceTimersByTimeAsync(1);
  });
});
