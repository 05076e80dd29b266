import type { DeliveryEntry, JournalEntry, RunEntry } from '../journal.ts';

/**
 * Every acknowledged event has its effect or is a dead letter, and every event is acknowledged.
 * @param queued the receivers enqueue: the effect may come after the acknowledgement
 */
export function checkAcknowledged(entries: readonly JournalEntry[], queued: boolean): string[] {
  const doneAt = new Map<string, number>();
  for (const entry of entries)
    if (isDone(entry)) doneAt.set(entry.key, Math.min(entry.at, doneAt.get(entry.key) ?? Infinity));

  const deliveries = entries.filter((entry): entry is DeliveryEntry => entry.kind === 'delivery');
  const violations = new Set<string>();
  const acknowledged = new Set<string>();
  for (const { key, status, outcome, until } of deliveries) {
    if (status < 200 || status > 299) continue;
    acknowledged.add(key);
    const at = doneAt.get(key) ?? Infinity;
    if (at === Infinity) violations.add(`${key} was acknowledged (${outcome}) and has no effect`);
    else if (!queued && at > until)
      violations.add(`${key} was acknowledged (${outcome}) before its effect`);
  }
  for (const key of new Set(deliveries.map((delivery) => delivery.key)))
    if (!acknowledged.has(key)) {
      const last = deliveries.findLast((delivery) => delivery.key === key);
      violations.add(`${key} was never acknowledged (${last?.outcome ?? ''})`);
    }
  return [...violations];
}

const isDone = (entry: JournalEntry): entry is RunEntry =>
  entry.kind === 'effect' || entry.kind === 'dead';
