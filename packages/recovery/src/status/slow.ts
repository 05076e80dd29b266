import { bucketEnd, counterParts } from '@call-webhooks/core/stores';
import { sumOf, type CountersAt, type Evidence } from './evidence.ts';
import type { Finding } from './findings.ts';

/** How often something took how long: counts by bucket. */
type Durations = Map<number, number>;

/** Events whose deliveries come near the time within which they have to be acknowledged. */
export function findSlow(evidence: Evidence): readonly Finding[] {
  const { times, thresholds } = evidence;
  const limits = evidence.processes.flatMap((process) => process.ackWithin ?? []);
  const ackWithin = limits.length > 0 ? Math.min(...limits) : thresholds.ackWithin;
  const isSlow = ([bucket]: [number, number]) =>
    bucketEnd(bucket - 1) >= ackWithin * thresholds.slowShare;
  return [...newestDeliveries(evidence)].flatMap(([eventName, { durations, since }]) => {
    const count = sumOf([...durations].filter(isSlow).map(([, one]) => one));
    const of = sumOf(durations.values());
    if (count < Math.max(3, 0.05 * of)) return [];
    const p95 = {
      delivery: percentile95(durations),
      handler: percentile95(durationsOf(times, since, ['handlerMs', eventName])),
      store: percentile95(durationsOf(times, since, ['storeMs'])),
    };
    const facts = { tenant: '', eventName, since, count, of, ackWithin, p95 };
    return [{ what: 'slow', kind: 'slow', urgent: false, ...facts }];
  });
}

/** The last deliveries of each event: those of 20 minutes, or as far back as it takes to see 20. */
function newestDeliveries({ now, times, thresholds }: Evidence) {
  const { slowFor, slowDeliveries } = thresholds;
  const found = new Map<string, { durations: Durations; since: number }>();
  const newestFirst = [...times].sort(([one], [other]) => other - one);
  for (const [at, counters] of newestFirst)
    for (const [name, count] of Object.entries(counters)) {
      const [kind, eventName = '', bucket] = counterParts(name);
      if (kind !== 'deliveryMs') continue;
      const one = found.get(eventName) ?? { durations: new Map<number, number>(), since: at };
      const isEnough = sumOf(one.durations.values()) >= slowDeliveries && one.since > at;
      if (isEnough && at < now - slowFor) continue;
      add(one.durations, Number(bucket), count);
      found.set(eventName, { ...one, since: at });
    }
  return found;
}

/** @param name the parts of the counters' name before the bucket */
function durationsOf(times: CountersAt, since: number, name: readonly string[]): Durations {
  const found: Durations = new Map();
  for (const [at, counters] of times)
    if (at >= since)
      for (const [counter, count] of Object.entries(counters)) {
        const parts = counterParts(counter);
        if (parts.length === name.length + 1 && name.every((part, index) => part === parts[index]))
          add(found, Number(parts.at(-1)), count);
      }
  return found;
}

const add = (durations: Durations, bucket: number, count: number) =>
  durations.set(bucket, (durations.get(bucket) ?? 0) + count);

function percentile95(durations: Durations): number | undefined {
  let left = 0.95 * sumOf(durations.values());
  if (left === 0) return undefined;
  for (const [bucket, count] of [...durations].sort(([one], [other]) => one - other))
    if ((left -= count) <= 0) return Math.round(bucketEnd(bucket));
  return undefined;
}
