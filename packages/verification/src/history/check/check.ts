import { LEASE_MS } from '../engines/engine.ts';
import type { Effect } from '../effects.ts';
import type { JournalEntry } from '../journal.ts';
import { checkAcknowledged } from './acknowledged.ts';
import { checkExactlyOnce, effectEntry } from './exactly-once.ts';
import { checkLeases } from './leases.ts';
import { checkRetried } from './retried.ts';
import { checkRuns } from './runs.ts';

export interface HistoryReport {
  violations: string[];
  counts: Record<string, number>;
}

export interface CheckOptions {
  queued: boolean;
  /** What was committed in the store's database, if the effects are there and not in the journal. */
  effects?: readonly Effect[] | undefined;
  /** Of the run; decides which effects are made with `completeIn`. */
  seed?: string;
}

/** Checks a history against what the receiver promises. */
export function checkHistory(
  journal: readonly JournalEntry[],
  { queued, effects, seed = '' }: CheckOptions,
): HistoryReport {
  const exactlyOnce = effects && checkExactlyOnce(effects, seed);
  const entries = [...journal, ...(effects ?? []).map(effectEntry)];
  // A job's lease starts when the engine hands it out, which the journal does not record. A run that
  // started after its lease had expired was handed out up to one lease earlier, and the fault that
  // delayed it came a moment before that.
  const runs = checkRuns(entries, queued ? LEASE_MS * 1.2 : 0);
  const count = (matches: (entry: JournalEntry) => boolean) => entries.filter(matches).length;
  const events = new Set(
    entries.flatMap((entry) => (entry.kind === 'delivery' ? [entry.key] : [])),
  );
  const faults = (...names: string[]) =>
    count((entry) => entry.kind === 'fault' && names.includes(entry.fault));
  return {
    violations: [
      ...checkAcknowledged(entries, queued),
      ...checkLeases(entries),
      ...checkRetried(entries),
      ...runs.violations,
      ...(exactlyOnce?.violations ?? []),
    ],
    counts: {
      events: events.size,
      attempts: count(({ kind }) => kind === 'delivery'),
      runs: count(({ kind }) => kind === 'begin'),
      effects: count(({ kind }) => kind === 'effect'),
      'dead letters': count(({ kind }) => kind === 'dead'),
      'dead jobs retried by hand': count(({ kind }) => kind === 'retried'),
      'process kills': faults('kill'),
      'server kills': faults('server'),
      freezes: faults('freeze'),
      'stalls, and store calls slow or failed': faults('stall', 'store'),
      'slow writes of the engine': faults('slow'),
      'duplicate effects explained': Object.values(runs.explained).reduce((a, b) => a + b, 0),
      ...Object.fromEntries(
        Object.entries(runs.explained).map(([cause, times]) => [`  of them by: ${cause}`, times]),
      ),
      ...exactlyOnce?.counts,
    },
  };
}
