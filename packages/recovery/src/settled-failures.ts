import { type OutcomeCode, OUTCOMES, type Store } from '@call-webhooks/core';
import type { OutcomeRow } from '@call-webhooks/core/stores';
import { ask } from './read-rows.ts';

const MINUTE = 60_000;
/** So many events are looked up in the store at once, and at most. */
const ASKED_AT_ONCE = 500;
const MAX_ASKED = 5_000;

/** What ends the retries of an event. */
export const SETTLING: ReadonlySet<OutcomeCode> = new Set([
  ...(['handled', 'duplicate', 'queued', 'dead-lettered', 'in-dead-letters'] as const),
]);

/**
 * Which share of the failures is of events that were not acknowledged later, by minute, and by minute and event name.
 * @param rows the oldest first
 */
export async function unsettledOf(
  rows: readonly OutcomeRow[],
  store: Pick<Store, 'peek'>,
): Promise<ReadonlyMap<string, number>> {
  const failures = rows.filter(
    ({ source, late, outcome }) => source === 'webhook' && !late && isFailure(outcome),
  );
  const settledAt = new Map<string, number>();
  const reconciled = new Set<string>();
  for (const { source, late, key, outcome, at } of rows) {
    if (late || key === undefined || !SETTLING.has(outcome)) continue;
    if (source === 'webhook') settledAt.set(key, at);
    if (source === 'reconcile') reconciled.add(key);
  }
  const isSettled = ({ key = '', at }: OutcomeRow) => (settledAt.get(key) ?? -Infinity) >= at;
  const asked = [...new Set(failures.flatMap((row) => (isSettled(row) ? [] : (row.key ?? []))))]
    // What only a reconcile has run was given up by the service. A redacted key is that of many events.
    .filter((key) => !reconciled.has(key) && !key.includes('[redacted]'))
    .slice(-MAX_ASKED);
  const done = new Set<string>();
  for (let from = 0; store.peek && from < asked.length; from += ASKED_AT_ONCE) {
    const keys = asked.slice(from, from + ASKED_AT_ONCE);
    const states = await ask('peek()', async () => (await store.peek?.(keys)) ?? []);
    for (const [index, key] of keys.entries())
      if (states[index] === 'handled' || states[index] === 'dead-lettered') done.add(key);
  }
  const found = new Map<string, { all: number; open: number }>();
  for (const row of failures) {
    const { at, key = '', eventName = '' } = row;
    const isOpen = !isSettled(row) && !done.has(key);
    const minute = String(Math.floor(at / MINUTE));
    for (const of of [minute, `${minute} ${eventName}`]) {
      const { all, open } = found.get(of) ?? { all: 0, open: 0 };
      found.set(of, { all: all + 1, open: open + (isOpen ? 1 : 0) });
    }
  }
  return new Map([...found].map(([of, { all, open }]) => [of, open / all]));
}

/** Of a genuine delivery: with most 4xx, it is unknown who sent it. Another process may know other outcomes. */
export const isFailure = (code: OutcomeCode): boolean =>
  code === 'invalid-payload' ||
  ((OUTCOMES as Partial<typeof OUTCOMES>)[code]?.status ?? 500) >= 500;
