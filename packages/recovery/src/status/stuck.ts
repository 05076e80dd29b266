import { counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import { exactTimes, type Evidence, type Window } from './evidence.ts';
import type { Finding } from './findings.ts';

type Gathered = Pick<Evidence, 'now' | 'marks' | 'minutes' | 'thresholds'>;

const MINUTE_MS = 60_000;

/** Deliveries were queued, and no job has ended since, although one did before. */
export function findStuck(evidence: Evidence): readonly Finding[] {
  const queued = queuedSince(evidence);
  if (!queued) return [];
  const isQueued = ({ source, outcome }: OutcomeRow) =>
    source === 'webhook' && outcome === 'queued';
  const since = exactTimes(evidence.read, minuteOf(queued.since), isQueued).first;
  const of = { tenant: '', eventName: '', since, count: queued.count };
  return [{ what: 'stuck', kind: 'stuck', urgent: true, ...of }];
}

/** The minute of the first delivery that waits. */
export function windowsOfStuck(evidence: Gathered): readonly Window[] {
  const queued = queuedSince(evidence);
  return queued ? [minuteOf(queued.since)] : [];
}

const minuteOf = (since: number): Window => ({ since, until: since + MINUTE_MS - 1 });

/**
 * What was queued, and since which minute. What was queued soon after the last job is not counted, since counters
 * have the clocks of their processes.
 */
function queuedSince({ now, marks, minutes, thresholds }: Gathered) {
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
  return count > 0 && now - since >= thresholds.stuckAfter ? { since, count } : undefined;
}
