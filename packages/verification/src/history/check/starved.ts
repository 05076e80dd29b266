import { CONTROL_WORK_MS } from '../machine.ts';
import type { ControlEntry, DeliveryEntry, JournalEntry } from '../journal.ts';

/** When everything takes so many times as long, retries arrive faster than they can be answered. */
const SLOW_FACTOR = 8;
/** The run itself does not explain a slow machine if it gets less than this part of the cores. */
const OWN_SHARE = 0.5;
/** The service gives up after 90 seconds without an acknowledgement: there are about as many. */
const FEWEST_CONTROLS = 20;
/** Responses that a late timer causes. Status 0 is no response. */
const LATE_STATUSES = new Set([0, 503]);
/** Outcomes of events that the service did not send, since their rule was paused. */
const NOT_SENT = new Set(['failed', 'dropped', 'held']);

export interface Starvation {
  /** When the last event was acknowledged. */
  readonly since: number;
  readonly reason: string;
}

/**
 * Tells whether the machine may be the reason that the service gave up. It is the reason only if others took the CPU: from
 * the last acknowledgement on, a control operation that uses no receiver was slow most of the time, while the
 * processes of the run got less than half of the cores. A receiver that hangs leaves the control operation quick,
 * and one that is too busy uses the cores itself.
 */
export function starvationOf(entries: readonly JournalEntry[]): Starvation | undefined {
  const acknowledged = entries.flatMap((entry) =>
    entry.kind === 'delivery' && entry.status >= 200 && entry.status <= 299 ? [entry.until] : [],
  );
  const since = Math.max(0, ...acknowledged);
  const controls = entries.filter(
    (entry): entry is ControlEntry => entry.kind === 'control' && entry.at >= since,
  );
  if (controls.length < FEWEST_CONTROLS) return undefined;
  const took = median(controls.map(({ at, until }) => until - at));
  // Where it is not known, nobody else is accused.
  const share = median(controls.map((control) => control.share ?? 1));
  if (took < CONTROL_WORK_MS * SLOW_FACTOR || share >= OWN_SHARE) return undefined;
  return {
    since,
    reason: [
      `Since the last acknowledgement, an operation that needs ${String(CONTROL_WORK_MS)} ms of CPU time took ${took.toFixed(0)} ms`,
      `(median of ${String(controls.length)}), although all processes of the run together used only ${(share * 100).toFixed(0)} % of the`,
      'CPU time of the machine. Run the check again when the machine is less busy.',
    ].join(' '),
  };
}

/** Whether a starved machine explains that an event was not acknowledged: it was sent, and only lateness answered it. */
export const isExplainedBy = (
  { since }: Starvation,
  deliveries: readonly DeliveryEntry[],
): boolean =>
  deliveries.every(
    ({ until, status, outcome }) =>
      !NOT_SENT.has(outcome) && (until < since || LATE_STATUSES.has(status)),
  );

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
