import { counterParts, SAME_CLOCK_MS, type OutcomeRow } from '@call-webhooks/core/stores';
import { readOf, type Evidence, type ReadWindow, type Window } from './evidence.ts';
import type { Finding } from './findings.ts';

type Gathered = Pick<Evidence, 'now' | 'marks' | 'minutes' | 'thresholds'>;

const MINUTE_MS = 60_000;

/** By how much the clocks of two processes may differ that the log takes for the same; milliseconds. */
const SAME_CLOCKS_MS = 2 * SAME_CLOCK_MS;

/** Deliveries were queued, and no job has ended since, although one did before. */
export function findStuck(evidence: Evidence): readonly Finding[] {
  const queued = queuedSince(evidence);
  if (!queued) return [];
  const waiting = rowsThatWait(readOf(evidence.read, windowOf(queued, evidence)), queued);
  const since = Math.min(waiting[0]?.at ?? Infinity, queued.since + MINUTE_MS - 1);
  const of = {
    // Rows may have been left out, and counters leave out what is in doubt.
    count: Math.max(queued.count, waiting.length),
    since: waiting.length > 0 ? since : queued.since,
  };
  return [{ what: 'stuck', kind: 'stuck', urgent: false, tenant: '', eventName: '', ...of }];
}

/** From the last job on. */
export function windowsOfStuck(evidence: Gathered): readonly Window[] {
  const queued = queuedSince(evidence);
  return queued ? [windowOf(queued, evidence)] : [];
}

const windowOf = ({ endedAt }: Queued, { now }: Pick<Gathered, 'now'>): Window => ({
  since: endedAt - SAME_CLOCKS_MS,
  until: now,
});

/** Deliveries that were queued after the last job had ended, the oldest first. */
function rowsThatWait({ rows }: ReadWindow, { endedAt }: Queued): readonly OutcomeRow[] {
  const ran = new Set(rows.flatMap(({ source, key }) => (source === 'queue' && key) || []));
  return rows.filter(
    ({ source, outcome, at, key = '' }) =>
      source === 'webhook' && outcome === 'queued' && at > endedAt && !ran.has(key),
  );
}

interface Queued {
  /** When the last job ended, and in which minute the first delivery was queued that is certain to wait. */
  readonly endedAt: number;
  readonly since: number;
  readonly count: number;
}

/**
 * What was queued, and since which minute. What was queued soon after the last job is not counted, since counters
 * have the clocks of their processes.
 */
function queuedSince({ now, marks, minutes, thresholds }: Gathered): Queued | undefined {
  const endedAt = marks['queue'];
  if (endedAt === undefined) return undefined;
  let count = 0;
  let since = Infinity;
  for (const [at, counters] of minutes)
    for (const [name, queued] of Object.entries(counters)) {
      const [kind, source, outcome] = counterParts(name);
      if (kind !== 'outcome' || source !== 'webhook' || outcome !== 'queued') continue;
      if (at <= endedAt + thresholds.clockDifference) continue;
      count += queued;
      since = Math.min(since, at);
    }
  return count > 0 && now - since >= thresholds.stuckAfter ? { endedAt, since, count } : undefined;
}
