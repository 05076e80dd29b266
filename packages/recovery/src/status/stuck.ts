import { counterParts } from '@call-webhooks/core/stores';
import type { Evidence } from './evidence.ts';
import type { Finding } from './findings.ts';

/**
 * Deliveries were queued, and no job has ended since, although one did before. What was queued soon after the
 * last job is not counted, since counters have the clocks of their processes.
 */
export function findStuck({ now, marks, minutes, thresholds }: Evidence): readonly Finding[] {
  const endedAt = marks['queue'];
  if (endedAt === undefined) return [];
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
  if (count === 0 || now - since < thresholds.stuckAfter) return [];
  const of = { tenant: '', eventName: '', since, count };
  return [{ what: 'stuck', kind: 'stuck', urgent: true, ...of }];
}
