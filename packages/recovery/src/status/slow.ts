import { durationPercentile } from '@call-webhooks/core/internal';
import {
  bucketEnd,
  clockAhead,
  counterParts,
  durationBucket,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { readOf, type CountersAt, type Evidence, type Window } from './evidence.ts';
import type { Finding } from './findings.ts';

const PERIOD_MS = 600_000;
/** By chance, so many quick deliveries in a row come once in a thousand times. */
const CHANCE = 0.001;
/** Of one event alone, so many quick ones end a slowness at least. */
const MIN_QUICK = 3;

/** How often something took how long: counts by bucket. */
type Durations = Map<number, number>;

/** Deliveries of one event in one period. */
interface Period {
  readonly at: number;
  readonly all: number;
  readonly slow: number;
}

/** An event whose deliveries come near the time within which they have to be acknowledged. */
interface Slowness {
  readonly eventName: string;
  /** The period of its first slow delivery; milliseconds since the epoch. */
  readonly from: number;
  readonly count: number;
  readonly of: number;
}

type Gathered = Pick<Evidence, 'now' | 'times' | 'thresholds' | 'processes'>;

/** Events whose deliveries come near the time within which they have to be acknowledged. */
export function findSlow(evidence: Evidence): readonly Finding[] {
  const { read, now, times } = evidence;
  const ackWithin = ackWithinOf(evidence);
  const limit = slowFrom(evidence);
  const isSlow = ({ durationMs }: OutcomeRow) => isSlowBucket(durationBucket(durationMs), limit);
  return slownesses(evidence).flatMap(({ eventName, from, count, of: all }) => {
    const isOwn = (row: OutcomeRow) =>
      row.eventName === eventName && row.source === 'webhook' && row.late !== true;
    const begun = readOf(read, beginningOf(from)).rows.filter(isOwn);
    const index = begun.findIndex(isSlow);
    const first = begun[index];
    const since = first?.at ?? from;
    const of = all - Math.max(0, index);
    const newest = readOf(read, { since: from, until: now }).rows.filter(isOwn);
    const quick = newest.length - 1 - newest.findLastIndex(isSlow);
    if (quick < newest.length && quick >= quickRunOf(count / (of - quick))) return [];
    const p95 = {
      delivery: percentile95(durationsOf(times, from, ['deliveryMs', eventName])),
      handler: percentile95(durationsOf(times, from, ['handlerMs', eventName])),
      store: percentile95(durationsOf(times, from, ['storeMs'])),
    };
    const facts = { tenant: '', eventName, since, count, of, ackWithin };
    const version = first && versionOf(first, evidence);
    return [{ what: 'slow', kind: 'slow', urgent: false, ...facts, version, p95 }];
  });
}

/** The newest deliveries, which tell whether it has ended, and those of the period in which it began. */
export const windowsOfSlow = (evidence: Gathered): readonly Window[] =>
  slownesses(evidence).flatMap(({ from }) => [
    beginningOf(from),
    { since: from, until: evidence.now },
  ]);

const beginningOf = (from: number): Window => ({ since: from, until: from + PERIOD_MS - 1 });

/** A process that has been replaced may have had another limit. */
function ackWithinOf({ now, processes, thresholds }: Gathered): number {
  const running = processes.filter(({ seenAt }) => now - seenAt < thresholds.slowFor);
  const limits = (running.length > 0 ? running : processes).flatMap(
    (process) => process.ackWithin ?? [],
  );
  return limits.length > 0 ? Math.min(...limits) : thresholds.ackWithin;
}

/** From here on, a delivery is slow; milliseconds. */
const slowFrom = (evidence: Gathered) => ackWithinOf(evidence) * evidence.thresholds.slowShare;

/** Whether all that a bucket has took so long. */
const isSlowBucket = (bucket: number, limit: number) => bucketEnd(bucket - 1) >= limit;

function slownesses(evidence: Gathered): readonly Slowness[] {
  const { now, thresholds } = evidence;
  const { slowFor, slowDeliveries } = thresholds;
  return [...periodsOf(evidence)].flatMap(([eventName, periods]) => {
    // Those of 20 minutes, or as far back as it takes to see 20.
    let [count, of] = [0, 0];
    for (const { at, all, slow } of periods) {
      if (of >= slowDeliveries && at < now - slowFor) break;
      count += slow;
      of += all;
    }
    if (count < Math.max(3, 0.05 * of)) return [];
    return [{ eventName, ...sinceItBegan(periods, quickRunOf(count / of)) }];
  });
}

/** How many deliveries in a row are hardly ever quick by chance, if this part of all is slow. */
const quickRunOf = (share: number): number =>
  Math.max(MIN_QUICK, share < 1 ? Math.ceil(Math.log(CHANCE) / Math.log(1 - share)) : 0);

/** @param periods the newest first */
function sinceItBegan(periods: readonly Period[], quickRun: number) {
  let found = { from: 0, count: 0, of: 0 };
  let [count, of, quick] = [0, 0, 0];
  for (const { at, all, slow } of periods) {
    count += slow;
    of += all;
    quick = slow > 0 ? 0 : quick + all;
    if (slow > 0) found = { from: at, count, of };
    else if (found.count > 0 && quick >= quickRun) break;
  }
  return found;
}

/** The periods of each event, the newest first. */
function periodsOf(evidence: Gathered): ReadonlyMap<string, readonly Period[]> {
  const limit = slowFrom(evidence);
  const found = new Map<string, Period[]>();
  const newestFirst = [...evidence.times].sort(([one], [other]) => other - one);
  for (const [at, counters] of newestFirst) {
    const ofEvents = new Map<string, { all: number; slow: number }>();
    for (const [name, count] of Object.entries(counters)) {
      const [kind, eventName = '', bucket] = counterParts(name);
      if (kind !== 'deliveryMs') continue;
      const one = ofEvents.get(eventName) ?? { all: 0, slow: 0 };
      one.all += count;
      if (isSlowBucket(Number(bucket), limit)) one.slow += count;
      ofEvents.set(eventName, one);
    }
    for (const [eventName, counted] of ofEvents)
      found.set(eventName, [...(found.get(eventName) ?? []), { at, ...counted }]);
  }
  return found;
}

function versionOf({ process: id }: OutcomeRow, { processes }: Gathered) {
  const process = processes.find((one) => one.id === id);
  if (process?.version === undefined) return undefined;
  const startedAt = process.startedAt - clockAhead(process.at, process.seenAt);
  return { name: process.version, startedAt };
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
  const ms = durationPercentile(durations, 0.95);
  return ms === undefined ? undefined : Math.round(ms);
}
