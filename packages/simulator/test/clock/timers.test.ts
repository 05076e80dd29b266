import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Timers } from '../../src/clock/timers.ts';

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
