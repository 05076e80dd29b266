import { type EventState, type OutcomeLog, type OutcomeRow } from '@call-webhooks/core/stores';
import { causeId } from '@call-webhooks/recovery';
import { causeOfRow } from '@call-webhooks/recovery/internal';
import type { FailureCause, FailureCauses } from './api-types.ts';
import { resultOf } from './results.ts';

const BATCHES = 200;
const SEARCH_MS = 2_000;
const MOST_ROWS = 10_000;
const MOST_CAUSES = 50;
/** The store is asked for the state of so many events. */
const MOST_KEYS = 1_000;

/** Which failures are meant. */
export interface FailureFilter {
  readonly since: number;
  readonly until?: number | undefined;
  readonly event?: string | undefined;
  readonly tenant?: string | undefined;
}

/**
 * The failures of the log, grouped by cause, most frequent first.
 * @param peek what the store knows of events; absent if it cannot tell
 */
export async function failureCauses(
  log: OutcomeLog,
  { since, until, event, tenant }: FailureFilter,
  peek?: (keys: readonly string[]) => Promise<readonly (EventState | undefined)[]>,
): Promise<FailureCauses> {
  const rows: OutcomeRow[] = [];
  const end = performance.now() + SEARCH_MS;
  let before: string | undefined;
  do {
    const page = await log.read({ only: 'failures', before, batches: BATCHES, since, until });
    for (const row of page.rows)
      if (
        isFailure(row) &&
        (event === undefined || row.eventName === event) &&
        (tenant === undefined || row.tenant === tenant)
      )
        rows.push(row);
    before = page.before;
  } while (before !== undefined && rows.length < MOST_ROWS && performance.now() < end);
  const states = await statesOf(rows, peek);
  const groups = new Map<string, FailureCause & { names: Set<string>; keys: Set<string> }>();
  for (const row of rows) {
    const text = causeOfRow(row);
    let group = groups.get(text);
    if (!group) {
      const of = { id: await causeId(text), text, count: 0, events: 0, open: null, eventNames: [] };
      const names = { names: new Set<string>(), keys: new Set<string>() };
      group = { ...of, ...names, outcome: row.outcome, firstAt: row.at, lastAt: row.at };
      groups.set(text, group);
    }
    group.count += 1;
    group.names.add(row.eventName ?? 'unknown');
    if (row.key !== undefined) group.keys.add(row.key);
    group.firstAt = Math.min(group.firstAt, row.at);
    group.lastAt = Math.max(group.lastAt, row.at);
  }
  const causes = [...groups.values()].map(({ names, keys, ...group }): FailureCause => ({
    ...group,
    eventNames: [...names].sort(),
    events: keys.size,
    open: states && [...keys].filter((key) => isOpen(states.get(key))).length,
  }));
  return {
    causes: causes
      .sort((one, other) => other.count - one.count || other.lastAt - one.lastAt)
      .slice(0, MOST_CAUSES),
    failures: rows.length,
    searchedTo: before === undefined ? since : (rows.at(-1)?.at ?? since),
  };
}

/** A dead letter has a list of its own. */
const isFailure = ({ outcome, late }: OutcomeRow): boolean =>
  resultOf(outcome) === 'failed' && late !== true;

/** @returns `undefined` for a key that the store was not asked for, which counts as open */
async function statesOf(
  rows: readonly OutcomeRow[],
  peek: ((keys: readonly string[]) => Promise<readonly (EventState | undefined)[]>) | undefined,
): Promise<Map<string, EventState | undefined> | null> {
  if (!peek) return null;
  const keys = [...new Set(rows.flatMap(({ key }) => key ?? []))].slice(0, MOST_KEYS);
  const states = keys.length > 0 ? await peek(keys) : [];
  return new Map(keys.map((key, index) => [key, states[index]]));
}

const isOpen = (state: EventState | undefined): boolean =>
  state !== 'handled' && state !== 'dead-lettered';
