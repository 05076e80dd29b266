import { bucketEnd } from '@call-webhooks/core/stores';
import type { Percentiles } from './api-types.ts';

export const sum = (numbers: Iterable<number>): number => {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
};

/** @param buckets how many durations each `durationBucket` has; `null` without any */
export function percentiles(buckets: ReadonlyMap<number, number> = new Map()): Percentiles | null {
  const sorted = [...buckets].sort(([one], [other]) => one - other);
  const total = sum(buckets.values());
  if (total === 0) return null;
  const at = (share: number) => {
    let left = Math.ceil(total * share);
    const [bucket = 0] = sorted.find(([, count]) => (left -= count) <= 0) ?? [];
    return bucketEnd(bucket);
  };
  return { p50: at(0.5), p95: at(0.95) };
}
