import { describe, expect, it } from '@jest/globals';
import { WebhookError } from '@call-webhooks/core';
import { createTestClock } from '../src/index.ts';

describe('createTestClock', () => {
  it('stands still at its start, and moves by what it is told', () => {
    const clock = createTestClock(new Date('2030-01-01T00:00:00Z'));
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1));
    clock.advance(0);
    clock.advance(1_500);
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1) + 1_500);
    expect(createTestClock(7).now()).toBe(7);
    expect(Math.abs(createTestClock().now() - Date.now())).toBeLessThan(60_000);
  });

  it('calls back what becomes due on its way, in order, at the time when it was due', () => {
    const clock = createTestClock(0);
    const called: [string, number][] = [];
    const after = (ms: number, name: string) =>
      clock.schedule(ms, () => void called.push([name, clock.now()]));
    after(20, 'second');
    after(10, 'first');
    after(20, 'third');
    after(21, 'later');
    clock.schedule(5, () => after(6, 'in between'));
    clock.advance(20);
    expect(called).toEqual([
      ['first', 10],
      ['in between', 11],
      ['second', 20],
      ['third', 20],
    ]);
    clock.advance(1);
    clock.advance(1_000);
    expect(called.slice(4)).toEqual([['later', 21]]);
  });

  it('calls back once, and never what was cancelled', () => {
    const clock = createTestClock(0);
    let calls = 0;
    const cancel = clock.schedule(10, () => calls++);
    clock.schedule(5, () => calls++);
    clock.advance(9);
    cancel();
    clock.advance(100);
    expect(calls).toBe(1);
  });

  it('a delay that is over already is due now, and takes no time back', () => {
    const clock = createTestClock(1_000);
    const called: number[] = [];
    for (const delay of [-500, 0]) clock.schedule(delay, () => void called.push(clock.now()));
    expect(called).toEqual([]);
    clock.advance(0);
    expect(called).toEqual([1_000, 1_000]);
    expect(clock.now()).toBe(1_000);
  });

  it('a callback that throws is not called again, and time goes on', () => {
    const clock = createTestClock(0);
    clock.schedule(10, () => {
      throw new Error('mine');
    });
    expect(() => clock.advance(20)).toThrow('mine');
    clock.advance(20);
    expect(clock.now()).toBe(30);
  });

  it.each([-1, NaN, undefined as never, 'x' as never])('is not advanced by %p', (ms) => {
    const clock = createTestClock(0);
    expect(() => clock.advance(ms)).toThrow(WebhookError);
    expect(clock.now()).toBe(0);
  });

  it('does not begin at an invalid date', () => {
    expect(() => createTestClock(new Date('tomorrow'))).toThrow('not a valid date');
  });
});
