import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { InFlight } from '../../src/in-flight.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const hung = () => ({
  done: new Promise<void>(() => undefined),
  isWaiting: false,
  abandon: () => Promise.resolve(),
});

it('frees the place of a handler that never ends when its lease expires', () => {
  const inFlight = new InFlight(1);
  inFlight.add(hung(), performance.now());
  expect(() => inFlight.check()).toThrow('maxInFlight');
  jest.advanceTimersByTime(240_000);
  expect(() => inFlight.check()).not.toThrow();
});

it('frees each place at its own time, however often it is full', () => {
  const inFlight = new InFlight(2);
  inFlight.add(hung(), performance.now());
  jest.advanceTimersByTime(100_000);
  inFlight.add(hung(), performance.now());
  for (const advance of [0, 139_999]) {
    jest.advanceTimersByTime(advance);
    expect(() => inFlight.check()).toThrow('maxInFlight');
  }
  jest.advanceTimersByTime(1);
  expect(() => inFlight.check()).not.toThrow();
  inFlight.add(hung(), performance.now());
  expect(() => inFlight.check()).toThrow('maxInFlight');
  jest.advanceTimersByTime(100_000);
  expect(() => inFlight.check()).not.toThrow();
});

it('says that it closes', async () => {
  const inFlight = new InFlight(1);
  await inFlight.close(0);
  expect(() => inFlight.check()).toThrow('The receiver is closing.');
});

it('closes within graceMs and one second, even if nothing can be released', async () => {
  const inFlight = new InFlight(1);
  inFlight.add({ ...hung(), abandon: () => new Promise(() => undefined) }, performance.now());
  const closed = jest.fn();
  void inFlight.close(200).then(closed);
  await jest.advanceTimersByTimeAsync(1_199);
  expect(closed).not.toHaveBeenCalled();
  await jest.advanceTimersByTimeAsync(1);
  expect(closed).toHaveBeenCalledTimes(1);
});

it('an infinite grace period is not a short one', async () => {
  const inFlight = new InFlight(1);
  const work = hung();
  const abandon = jest.spyOn(work, 'abandon');
  inFlight.add(work, performance.now());
  void inFlight.close(Infinity);
  await jest.advanceTimersByTimeAsync(100_000);
  expect(abandon).not.toHaveBeenCalled();
});
