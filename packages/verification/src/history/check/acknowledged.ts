import type { Delivery, Line, Run } from '../line.ts';

/**
 * No event that was acknowledged is without its effect, or else a dead letter; and no event stays
 * without an acknowledgement.
 * @param queued the receivers hand over to a queue: the effect may come after the acknowledgement
 */
export function checkAcknowledged(lines: readonly Line[], queued: boolean): string[] {
  const doneAt = new Map<string, number>();
  for (const line of lines)
    if (isDone(line)) doneAt.set(line.key, Math.min(line.at, doneAt.get(line.key) ?? Infinity));

  const deliveries = lines.filter((line): line is Delivery => line.kind === 'delivery');
  const violations = new Set<string>();
  const acknowledged = new Set<string>();
  for (const { key, status, outcome, until } of deliveries) {
    if (status < 200 || status > 299) continue;
    acknowledged.add(key);
    const at = doneAt.get(key) ?? Infinity;
    if (at === Infinity) violations.add(`${key} was acknowledged (${outcome}), and has no effect`);
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

const isDone = (line: Line): line is Run => line.kind === 'effect' || line.kind === 'dead';
