import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { LineLimit } from '../../src/stores.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it('a line passes every 10 s, with the number of those that were left out since the last one', () => {
  const limit = new LineLimit();
  const asked: [afterMs: number, passed: number | undefined][] = [
    [0, 0],
    [0, undefined],
    [9_999, undefined],
    [1, 2],
    [9_999, undefined],
    [1, 1],
    [10_000, 0],
    [500, undefined],
    [60_000, 1],
    [60_000, 0],
  ];
  for (const [afterMs, passed] of asked) {
    jest.advanceTimersByTime(afterMs);
    expect(limit.pass()).toBe(passed);
  }
  expect(new LineLimit().pass()).toBe(0);
});
