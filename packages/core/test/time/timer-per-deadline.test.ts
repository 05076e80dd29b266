import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { TimerPerDeadline } from '../../src/time.ts';

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(1_000); // so that no time is 0
});
afterEach(() => void jest.useRealTimers());

it('has a timer for each pending deadline', async () => {
  const scheduler = new TimerPerDeadline();
  const woken: number[] = [];
  const waits = [10, 20, 30].map((ms) => ({
    place: 0,
    at: performance.now() + ms,
    onReached: () => void woken.push(ms),
  }));
  for (const wait of waits) scheduler.add(wait);
  expect(jest.getTimerCount()).toBe(3);
  scheduler.add(waits[2]!); // again: it replaces its timer
  scheduler.delete(waits[1]!);
  expect(jest.getTimerCount()).toBe(2);
  await jest.advanceTimersByTimeAsync(9);
  expect(woken).toEqual([]);
  await jest.advanceTimersByTimeAsync(22);
  expect(woken).toEqual([10, 30]);
  expect(jest.getTimerCount()).toBe(0);
});

it('limits a promise, and leaves no timer after a quick one', async () => {
  const scheduler = new TimerPerDeadline();
  const slow = expect(scheduler.withTimeout(10, new Promise(() => undefined))).rejects.toThrow(
    '10 ms',
  );
  await jest.advanceTimersByTimeAsync(11);
  await slow;
  await expect(scheduler.withTimeout(10, Promise.resolve(1))).resolves.toBe(1);
  await jest.advanceTimersByTimeAsync(0);
  expect(jest.getTimerCount()).toBe(0);
});
