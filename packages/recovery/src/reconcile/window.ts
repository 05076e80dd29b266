import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';

/** From when to when; milliseconds since the epoch. */
export interface Window {
  readonly since: number;
  readonly until: number;
}

/**
 * What happened less than this long ago is left alone by default; milliseconds. Its webhook may still come,
 * at first or as a retry, and has data that a reconciled event lacks: it would be a duplicate.
 */
export const SETTLE_FOR_MS = 600_000;

/**
 * How far the clocks of the service and of the store may differ; milliseconds. A window may be longer
 * than what is remembered by as much: calls that are too old are left out one by one.
 */
const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * When a call must have begun, at least, so that the store still knows its events if they were handled;
 * milliseconds since the epoch.
 */
export const rememberedSince = (rememberFor: number, now: number): number =>
  now - rememberFor + CLOCK_DIFFERENCE_MS;

/**
 * Checks that the store remembers the whole window. What was handled before it began to remember would
 * look as if it had been missed.
 * @throws WebhookError `invalid-options`, which names both durations
 */
export function checkWindow(window: Window, rememberFor: number | undefined, now: number): void {
  const refuse = (problem: string) => {
    throw new WebhookError('invalid-options', `reconcile: ${problem}`, {
      docs: docsUrl('recovery.md#the-window'),
    });
  };
  if (rememberFor === undefined)
    refuse(
      'the store does not say how long it remembers (rememberFor), so handled events could run again.',
    );
  if (window.since >= window.until)
    refuse(
      'since must be before until, which is 10 minutes ago by default, and never in the future.',
    );
  const asked = now - window.since;
  if (asked <= (rememberFor ?? 0) + CLOCK_DIFFERENCE_MS) return;
  const begins = `the window begins ${shown(asked)} ago`;
  const remembered = shown(rememberFor ?? 0);
  refuse(
    isNewMemory(rememberFor)
      ? `${begins}, but this store in memory knows nothing from before it started, ${remembered} ago. What was handled before would look missed and run again. Begin later, or use a store that outlives its process.`
      : `${begins}, but the store remembers handled events for ${remembered} only. Older ones would look missed and run again. Begin later.`,
  );
}

/** By its options, no store forgets so soon: it is one in memory, of a new process. */
const isNewMemory = (rememberFor = 0) => rememberFor < 600_000;

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
] as const;

/** Such as `36 hours (129600000 ms)`: in the largest unit that there are at least two of. */
function shown(ms: number): string {
  const [unit, size] = UNITS.find(([, one]) => ms >= 2 * one) ?? UNITS[3];
  return `${String(Math.round((ms / size) * 10) / 10)} ${unit} (${String(Math.floor(ms))} ms)`;
}
