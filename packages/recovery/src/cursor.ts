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

/**
 * Whether the store knows none of the events that were looked up. Then the calls may be those of another account or tenant: the
 * client has another token, or the tenant another name.
 */
export const knowsNothing = ({
  missed,
  known,
  failed,
  inDeadLetters,
}: Pick<ReconcileResult, 'missed' | 'known' | 'failed' | 'inDeadLetters'>): boolean =>
  missed > 0 && known + failed + inDeadLetters === 0;

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
 * By default, `reconcile` leaves out what happened less than this long ago; milliseconds. A webhook of it, or a retry,
 * may still arrive, and has data that a reconciled event lacks.
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
      'the store does not say how long it remembers events (rememberFor), so handled events could run again. Pass a store that has rememberFor.',
    );
  if (window.since >= window.until)
    throw refused(
      'since is not before until. By default, until is 10 minutes ago, and it is never in the future. Pass an earlier since.',
    );
  const asked = now - window.since;
  if (asked <= rememberFor + CLOCK_DIFFERENCE_MS) return;
  const begins = `the window begins ${shown(asked)} ago`;
  const remembered = shown(rememberFor);
  // By its options, no store forgets so soon: it is one in memory, of a new process.
  if (rememberFor < 600_000)
    throw refused(
      `${begins}, but this memory store knows nothing from before it was created, ${remembered} ago. Events that were handled before would look missed and run again. Pass a later since, or use a store that survives restarts.`,
    );
  throw refused(
    `${begins}, but the store remembers handled events for ${remembered} only. Older ones would look missed and run again. Pass a later since.`,
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
