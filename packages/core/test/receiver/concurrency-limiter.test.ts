import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { ConcurrencyLimiter } from '../../src/receiver/concurrency-limiter.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const hung = () => ({ done: new Promise<void>(() => undefined), abandon: () => Promise.resolve() });

it('gives the place of a handler that never ends away when its lease is over', () => {
  const gate = new ConcurrencyLimiter(1);
  gate.add(hung(), performance.now());
  expect(() => gate.check()).toThrow('maxInFlight');
  jest.advanceTimersByTime(240_000);
  expect(() => gate.check()).not.toThrow();
});

it('closes within its grace and a second, though nothing can be released', async () => {
  const limiter = new ConcurrencyLimiter(1);
  limiter.add({ ...hung(), abandon: () => new Promise(() => undefined) }, performance.now());
  const closed = jest.fn();
  void limiter.close(200).then(closed);
  await jest.advanceTimersByTimeAsync(1_199);
  expect(closed).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(closed).toHaveBeenCalledTimes(1);
});

it('an endless grace is no short one', async () => {
  const gate = new ConcurrencyLimiter(1);
  const work = hung();
  const abandon = jest.spyOn(work, 'abandon');
  gate.add(work, performance.now());
  void gate.close(Infinity);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(abandon).not.toHaveBeenCalled();
});
