import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ConcurrencyLimiter } from '../../src/receiver/concurrency-limiter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const hung = () => ({ done: new Promise<void>(() => undefined), abandon: () => Promise.resolve() });

it('frees the place of a handler that never ends when its lease expires', () => {
  const limiter = new ConcurrencyLimiter(1);
  limiter.add(hung(), performance.now());
  expect(() => limiter.check()).toThrow('maxInFlight');
  jest.advanceTimersByTime(240_000);
  expect(() => limiter.check()).not.toThrow();
});

it('closes within graceMs and one second, even if nothing can be released', async () => {
  const limiter = new ConcurrencyLimiter(1);
  limiter.add({ ...hung(), abandon: () => new Promise(() => undefined) }, performance.now());
  const closed = jest.fn();
  void limiter.close(200).then(closed);
  await jest.advanceTimersByTimeAsync(1_199);
  expect(closed).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(closed).toHaveBeenCalledTimes(1);
});

it('an infinite grace period is not a short one', async () => {
  const limiter = new ConcurrencyLimiter(1);
  const work = hung();
  const abandon = jest.spyOn(work, 'abandon');
  limiter.add(work, performance.now());
  void limiter.close(Infinity);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(abandon).not.toHaveBeenCalled();
});
