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

it('an endless grace is no short one', async () => {
  const gate = new ConcurrencyLimiter(1);
  const work = hung();
  const abandon = jest.spyOn(work, 'abandon');
  gate.add(work, performance.now());
  void gate.close(Infinity);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(abandon).not.toHaveBeenCalled();
});
