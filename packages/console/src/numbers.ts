import { durationPercentile } from '@call-webhooks/core/internal';
import type { Percentiles } from './api-types.ts';

export const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

/** @param buckets how many durations each `durationBucket` has; `null` without any */
export function percentiles(buckets: ReadonlyMap<number, number> = new Map()): Percentiles | null {
  const p50 = durationPercentile(buckets, 0.5);
  const p95 = durationPercentile(buckets, 0.95);
  return p50 === undefined || p95 === undefined ? null : { p50, p95 };
}
