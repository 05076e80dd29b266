import { LEASE_MS } from '../engines/engine.ts';
import type { Line } from '../line.ts';
import { checkAcknowledged } from './acknowledged.ts';
import { checkLeases } from './leases.ts';
import type { Report } from './report.ts';
import { checkRuns } from './runs.ts';

/** Holds a history against what the receiver promises. */
export function checkHistory(lines: readonly Line[], { queued }: { queued: boolean }): Report {
  // A job's lease begins when the engine gives it away, which the journal does not tell: a run that
  // began without its lease was taken a lease before, and what delayed it was a moment earlier still.
  const runs = checkRuns(lines, queued ? LEASE_MS * 1.2 : 0);
  const count = (isOne: (line: Line) => boolean) => lines.filter(isOne).length;
  const events = new Set(lines.flatMap((line) => (line.kind === 'delivery' ? [line.key] : [])));
  const effects = count(({ kind }) => kind === 'effect');
  const faults = (...names: string[]) =>
    count((line) => line.kind === 'fault' && names.includes(line.fault));
  return {
    violations: [...checkAcknowledged(lines, queued), ...checkLeases(lines), ...runs.violations],
    counts: {
      events: events.size,
      attempts: count(({ kind }) => kind === 'delivery'),
      runs: count(({ kind }) => kind === 'begin'),
      effects,
      'dead letters': count(({ kind }) => kind === 'dead'),
      'process kills': faults('kill'),
      'server kills': faults('server'),
      freezes: faults('freeze'),
      'stalls, and store calls slow or failed': faults('stall', 'store'),
      'slow writes of the engine': faults('slow'),
      'duplicate effects explained': Object.values(runs.explained).reduce((a, b) => a + b, 0),
      ...Object.fromEntries(
        Object.entries(runs.explained).map(([cause, times]) => [`  of them by: ${cause}`, times]),
      ),
    },
  };
}
