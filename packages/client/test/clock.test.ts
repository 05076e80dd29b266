import { expect, test } from '@jest/globals';
import { sleep, systemClock } from '../src/clock.ts';
import { TestClock, TIMEOUT } from './support/clock.ts';

test('sleeps for as long as the clock says', async () => {
  const clock = new TestClock();
  await sleep(clock, 250);
  expect(clock.pauses).toEqual([250]);
});

test('an abort ends a sleep, with the reason, and clears the timer', async () => {
  const clock = new TestClock();
  const controller = new AbortController();
  const sleeping = sleep(clock, TIMEOUT, controller.signal);
  expect(clock.armed).toBe(1);
  controller.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  expect(clock.armed).toBe(0);
});

test('a signal that is aborted already ends it at once', async () => {
  const clock = new TestClock();
  await expect(sleep(clock, 1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  expect(clock.pauses).toEqual([]);
});

test('the system clock tells the time and calls back, unless cancelled', async () => {
  expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1000);
  let cancelled = true;
  const cancel = systemClock.schedule(0, () => (cancelled = false));
  cancel();
  await new Promise<void>((resolve) => systemClock.schedule(1, resolve));
  expect(cancelled).toBe(true);
});
