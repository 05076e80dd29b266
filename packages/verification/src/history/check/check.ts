import { LEASE_MS } from '../engines/engine.ts';
import { usesCompleteIn, type Effect } from '../effects.ts';
import { groupByKey, type DeliveryEntry, type JournalEntry, type RunEntry } from '../journal.ts';
import { checkJobRenewals, checkLeases } from './leases.ts';
import { checkRuns } from './runs.ts';
import { isExplainedBy, starvationOf } from './starved.ts';

export interface HistoryReport {
  violations: string[];
  /** Why the run proves nothing about some events, if the machine was too busy to handle them. */
  inconclusive?: string;
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
  const never = neverAcknowledged(entries);
  const count = (matches: (entry: JournalEntry) => boolean) => entries.filter(matches).length;
  const events = new Set(
    entries.flatMap((entry) => (entry.kind === 'delivery' ? [entry.key] : [])),
  );
  const faults = (...names: string[]) =>
    count((entry) => entry.kind === 'fault' && names.includes(entry.fault));
  return {
    violations: [
      ...checkAcknowledged(entries, queued),
      ...never.violations,
      ...checkLeases(entries),
      ...checkJobRenewals(entries),
      ...checkRetried(entries),
      ...runs.violations,
      ...(exactlyOnce?.violations ?? []),
      ...checkExits(entries),
    ],
    ...(never.inconclusive !== undefined && { inconclusive: never.inconclusive }),
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

/**
 * Every acknowledged event has its effect or is a dead letter.
 * @param queued the receivers enqueue: the effect may come after the acknowledgement
 */
function checkAcknowledged(entries: readonly JournalEntry[], queued: boolean): string[] {
  const doneAt = new Map<string, number>();
  for (const entry of entries)
    if (isDone(entry)) doneAt.set(entry.key, Math.min(entry.at, doneAt.get(entry.key) ?? Infinity));

  const violations = new Set<string>();
  for (const entry of entries) {
    if (!isAcknowledgement(entry)) continue;
    const { key, outcome, until } = entry;
    const at = doneAt.get(key) ?? Infinity;
    if (at === Infinity) violations.add(`${key} was acknowledged (${outcome}) and has no effect`);
    else if (!queued && at > until)
      violations.add(`${key} was acknowledged (${outcome}) before its effect`);
  }
  return [...violations];
}

/** Every event is acknowledged, unless the machine was too busy for that. */
function neverAcknowledged(entries: readonly JournalEntry[]) {
  const deliveries = groupByKey(entries.filter((entry) => entry.kind === 'delivery'));
  const never = [...deliveries].filter(([, ofEvent]) => !ofEvent.some(isAcknowledgement));
  const starvation = never.length > 0 ? starvationOf(entries) : undefined;
  const violations: string[] = [];
  let late = 0;
  for (const [key, ofEvent] of never)
    if (starvation && isExplainedBy(starvation, ofEvent)) late += 1;
    else violations.push(`${key} was never acknowledged (${ofEvent.at(-1)?.outcome ?? ''})`);
  return {
    violations,
    inconclusive:
      starvation && late > 0
        ? `${String(late)} of ${String(deliveries.size)} events were never acknowledged. ${starvation.reason}`
        : undefined,
  };
}

const isAcknowledgement = (entry: JournalEntry): entry is DeliveryEntry =>
  entry.kind === 'delivery' && entry.status >= 200 && entry.status <= 299;

const isDone = (entry: JournalEntry): entry is RunEntry =>
  entry.kind === 'effect' || entry.kind === 'dead';

/** Every event whose dead job was retried by hand has its effect in the end. */
function checkRetried(entries: readonly JournalEntry[]): string[] {
  const effects = new Set(entries.flatMap((entry) => (entry.kind === 'effect' ? [entry.key] : [])));
  const retried = new Set(
    entries.flatMap((entry) => (entry.kind === 'retried' ? [entry.key] : [])),
  );
  return [...retried]
    .filter((key) => !effects.has(key))
    .map((key) => `${key} was retried by hand and has no effect`);
}

/** A receiver or a worker ends only when it is killed, whatever happens to its server. */
const checkExits = (entries: readonly JournalEntry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === 'exit'
      ? [
          `the ${entry.program} ${String(entry.pid)} ended by itself (${entry.end}): ${entry.stderr}`,
        ]
      : [],
  );

/**
 * An event whose handler uses `completeIn` has its effect once at most, whatever happened. How often the
 * others have theirs is counted, for comparison.
 * @param effects all that were committed
 */
function checkExactlyOnce(effects: readonly Effect[], seed: string) {
  const violations: string[] = [];
  const once = { effects: 0, duplicates: 0 };
  const others = { effects: 0, duplicates: 0 };
  for (const [key, ofEvent] of groupByKey(effects)) {
    const kind = usesCompleteIn(seed, key) ? once : others;
    kind.effects += ofEvent.length;
    kind.duplicates += ofEvent.length - 1;
    const attempts = ofEvent.map(({ attempt }) => attempt).join(', ');
    if (kind === once && ofEvent.length > 1)
      violations.push(`${key}: its effect was committed in attempts ${attempts}`);
  }
  return {
    violations,
    counts: {
      'effects with completeIn': once.effects,
      '  duplicates of these': once.duplicates,
      'effects that are marked afterwards': others.effects,
      '  duplicates of those': others.duplicates,
    },
  };
}

/** An effect in the database, as an entry of the journal. */
const effectEntry = (effect: Effect): RunEntry => ({ kind: 'effect', ...effect });
