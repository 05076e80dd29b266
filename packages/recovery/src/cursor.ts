import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { LONGEST_CALL_MS } from './events.ts';
import type { ReconcileResult, ReconcileStore } from './reconcile-options.ts';

/** From when to when; milliseconds since the epoch. */
export interface Window {
  readonly since: number;
  readonly until: number;
}

/** One pass through the list of calls. */
export interface Pass extends Window {
  /** The page to begin with; the first one if there is none. */
  readonly next?: string;
}

/** Where an unfinished run stopped. */
export interface SavedCursor extends Window {
  /** All pages before this one are done. */
  readonly next: string;
  readonly result: ReconcileResult;
}

/** What a reconcile has counted before it begins. */
export const nothingReconciled = (): ReconcileResult => ({
  seen: 0,
  missed: 0,
  handled: 0,
  known: 0,
  inDeadLetters: 0,
  failed: 0,
  ignored: 0,
  skipped: 0,
  stoppedEarly: false,
});

/** Reads the cursor of the last unfinished run. What cannot be read counts as none. */
export async function loadCursor(
  store: ReconcileStore,
  name: string,
): Promise<SavedCursor | undefined> {
  const text = await store.loadCursor?.(name);
  if (text === undefined) return undefined;
  try {
    const { since, until, next, result } = JSON.parse(text) as SavedCursor;
    if (typeof since !== 'number' || typeof until !== 'number' || typeof next !== 'string')
      return undefined;
    return { since, until, next, result };
  } catch {
    return undefined;
  }
}

/**
 * The passes through the list that a window needs, and the result to begin with. After an unfinished run,
 * the first pass goes on where that stopped. The second one looks at what is newer, and at calls that may
 * have been running then. A run of another window begins anew.
 */
export function planRun(
  window: Window,
  saved: SavedCursor | undefined,
): { passes: readonly Pass[]; result: ReconcileResult } {
  const { since, until } = window;
  if (!saved || saved.since > since || saved.until <= since || saved.until > until)
    return { passes: [window], result: nothingReconciled() };
  const rest = { since, until: saved.until, next: saved.next };
  const newer = { since: Math.max(since, saved.until - LONGEST_CALL_MS), until };
  return {
    passes: saved.until < until ? [rest, newer] : [rest],
    result: { ...nothingReconciled(), ...saved.result },
  };
}

/**
 * What happened less than this long ago is left alone by default; milliseconds. Its webhook may still come,
 * at first or as a retry, and has data that a reconciled event lacks: it would be a duplicate.
 */
export const SETTLE_FOR_MS = 600_000;

/**
 * How far the clocks of processes, of the service and of the store may differ; milliseconds. A window may
 * be longer than what is remembered by as much: calls that are too old are left out one by one.
 */
export const CLOCK_DIFFERENCE_MS = 60_000;

/**
 * Checks that the store remembers the whole window. What was handled before it began to remember would
 * look as if it had been missed.
 * @throws WebhookError `invalid-options`, which names both durations
 */
export function checkWindow(window: Window, rememberFor: number | undefined, now: number): void {
  if (rememberFor === undefined)
    throw refused(
      'the store does not say how long it remembers (rememberFor), so handled events could run again.',
    );
  if (window.since >= window.until)
    throw refused(
      'since must be before until, which is 10 minutes ago by default, and never in the future.',
    );
  const asked = now - window.since;
  if (asked <= rememberFor + CLOCK_DIFFERENCE_MS) return;
  const begins = `the window begins ${shown(asked)} ago`;
  const remembered = shown(rememberFor);
  // By its options, no store forgets so soon: it is one in memory, of a new process.
  if (rememberFor < 600_000)
    throw refused(
      `${begins}, but this store in memory knows nothing from before it started, ${remembered} ago. What was handled before would look missed and run again. Begin later, or use a store that outlives its process.`,
    );
  throw refused(
    `${begins}, but the store remembers handled events for ${remembered} only. Older ones would look missed and run again. Begin later.`,
  );
}

const refused = (problem: string) =>
  new WebhookError('invalid-options', `reconcile: ${problem}`, {
    docs: docsUrl('recovery.md#the-window'),
  });

/** Such as `36 hours (129600000 ms)`. */
function shown(ms: number): string {
  const [size, unit] = ms < 7_200_000 ? [60_000, 'minutes'] : [3_600_000, 'hours'];
  return `${String(Math.round((ms / size) * 10) / 10)} ${unit} (${String(Math.floor(ms))} ms)`;
}
