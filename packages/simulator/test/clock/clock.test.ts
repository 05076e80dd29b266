import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SimulatorClock } from '../../src/clock/clock.ts';
import { milliseconds } from '../../src/clock/duration.ts';
import { InFlightRequests } from '../../src/clock/in-flight-requests.ts';
import { Timers } from '../../src/clock/timers.ts';

const idle = new InFlightRequests(10);
const manual = () => new SimulatorClock('manual', 1_000, idle, () => undefined);

describe('a manual clock', () => {
  test('stands still, and does on its way what falls due, in order', async () => {
    const clock = manual();
    const done: [string, number][] = [];
    const at = (time: number, name: string) => clock.at(time, () => done.push([name, clock.now()]));
    at(3_000, 'c');
    at(2_000, 'a');
    at(2_000, 'b');
    at(9_000, 'late');
    at(2_500, 'cancelled').cancel();
    clock.at(2_000, () => at(2_200, 'added on the way'));
    await clock.advance('2.5s');
    expect(done).toEqual([
      ['a', 2_000],
      ['b', 2_000],
      ['added on the way', 2_200],
      ['c', 3_000],
    ]);
    expect(clock.now()).toBe(3_500);
    expect(clock.nextDueAt()).toBe(9_000);
    expect(await clock.next()).toBe(true);
    expect(clock.now()).toBe(9_000);
    expect(await clock.next()).toBe(false);
  });

  test('runs until nothing is due any more', async () => {
    const clock = manual();
    let left = 5;
    const again = () => {
      if (left-- > 0) clock.at(clock.now() + 60_000, again);
    };
    again();
    await clock.runUntilIdle();
    expect(clock.now()).toBe(301_000);
  });

  test('takes turns one after the other', async () => {
    const clock = manual();
    await Promise.all([clock.advance(10), clock.advance(10), clock.next(), clock.advance('1s')]);
    expect(clock.now()).toBe(2_020);
  });

  test('wakes sleepers', async () => {
    const clock = manual();
    const slept = clock.sleep('1m').then(() => clock.now());
    await clock.advance('2m');
    expect(await slept).toBe(61_000);
  });
});

test('a real clock flows, and can be turned ahead', async () => {
  const clock = new SimulatorClock('real', 1_000, idle, () => undefined);
  const fired = new Promise<number>((resolve) => {
    clock.at(clock.now() + 5, () => {
      resolve(clock.now());
    });
  });
  expect(await fired).toBeGreaterThanOrEqual(1_005);
  let due = false;
  clock.at(clock.now() + 300_000, () => (due = true));
  await clock.advance('5m');
  expect(due).toBe(true);
  expect(clock.now()).toBeGreaterThanOrEqual(301_000);
  clock.close();
});

test('durations', () => {
  expect([250, '250ms', '30s', '5m', '1.5h', '2d', ' 1 s ', 0].map(milliseconds)).toEqual([
    250, 250, 30_000, 300_000, 5_400_000, 172_800_000, 1_000, 0,
  ]);
  for (const wrong of ['', '5', '-5m', 'm', '5 weeks', -1, NaN, Infinity, null, {}])
    expect(() => milliseconds(wrong)).toThrow('A duration must be');
});

test('timers come out in the order of their time, and of their making where it is the same', () => {
  const plan = fc.array(fc.record({ at: fc.nat(20), cancelled: fc.boolean() }));
  fc.assert(
    fc.property(plan, (entries) => {
      const timers = new Timers();
      const ran: number[] = [];
      entries.forEach(({ at, cancelled }, index) => {
        const timer = timers.add(at, () => ran.push(index));
        if (cancelled) timer.cancel();
      });
      for (let run = timers.take(20); run; run = timers.take(20)) run();
      const expected = entries
        .map((entry, index) => ({ ...entry, index }))
        .filter(({ cancelled }) => !cancelled)
        .sort((one, other) => one.at - other.at || one.index - other.index);
      expect(ran).toEqual(expected.map(({ index }) => index));
      expect(timers.nextAt()).toBeUndefined();
    }),
  );
});

test('nothing is taken before its time', () => {
  const timers = new Timers();
  timers.add(10, () => undefined);
  expect(timers.take(9)).toBeUndefined();
  expect(timers.take(10)).toBeInstanceOf(Function);
});
