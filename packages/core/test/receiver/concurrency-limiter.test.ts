import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ConcurrencyLimiter } from '../../src/in-flight.ts';

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

it('frees each place at its own time, however often it is full', () => {
  const limiter = new ConcurrencyLimiter(2);
  limiter.add(hung(), performance.now());
  jest.advanceTimersByTime(100_000);
  limiter.add(hung(), performance.now());
  for (const advance of [0, 139_999]) {
    jest.advanceTimersByTime(advance);
    expect(() => limiter.check()).toThrow('maxInFlight');
  }
  jest.advanceTimersByTime(1);
  expect(() => limiter.check()).not.toThrow();
  limiter.add(hung(), performance.now());
  expect(() => limiter.check()).toThrow('maxInFlight');
  jest.advanceTimersByTime(100_000);
  expect(() => limiter.check()).not.toThrow();
});

it('remembers nothing of a delivery without a tenant, nor of a tenant that has none', () => {
  const limiter = new ConcurrencyLimiter(2);
  const set = jest.spyOn(Map.prototype, 'set');
  limiter.add(hung(), 0);
  expect(set).not.toHaveBeenCalled();
  set.mockRestore();
  const one = limiter.add(hung(), 0, 'a');
  const two = limiter.add(hung(), 0, 'a');
  const forget = jest.spyOn(Map.prototype, 'delete');
  limiter.delete(one);
  expect(forget).not.toHaveBeenCalledWith('a');
  limiter.delete(two);
  expect(forget).toHaveBeenCalledWith('a');
  forget.mockRestore();
});

it('says that it closes', async () => {
  const limiter = new ConcurrencyLimiter(1);
  await limiter.close(0);
  expect(() => limiter.check()).toThrow('The receiver is closing.');
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
