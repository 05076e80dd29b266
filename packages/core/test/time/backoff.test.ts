import { expect, it } from '@jest/globals';
import { exponentialBackoff } from '../../src/stores.ts';

it('doubles the delay after each attempt, up to a limit, and varies it by 10 %', () => {
  const delay = exponentialBackoff({ initialDelay: 1_000, maxDelay: 60_000 });
  for (const [attempt, expected] of [
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [10_000, 60_000],
  ] as const) {
    const delays = Array.from({ length: 100 }, () => delay(attempt));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(expected * 0.9);
    expect(Math.max(...delays)).toBeLessThanOrEqual(expected * 1.1);
    expect(new Set(delays).size).toBeGreaterThan(90);
  }
});
