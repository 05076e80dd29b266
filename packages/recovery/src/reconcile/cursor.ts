import { emptyResult, type ReconcileResult } from './result.ts';
import type { ReconcileStore } from './options.ts';
import { LONGEST_CALL_MS } from './to-events.ts';
import type { Window } from './window.ts';

/** Where an unfinished run stopped. */
export interface SavedCursor extends Window {
  /** The page to go on with. All pages before it are done. */
  readonly next: string;
  readonly result: ReconcileResult;
}

/** One pass through the list of calls. */
export interface Pass extends Window {
  /** The first page if there is none. */
  readonly next?: string;
}

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
    return { since, until, next, result: { ...emptyResult(), ...result } };
  } catch {
    return undefined;
  }
}

/**
 * The passes through the list that a window needs. After an unfinished run, the first one goes on where
 * that stopped. The second one looks at what is newer, and at calls that may have been running then. A
 * run of another window begins anew.
 */
export function passesOf(window: Window, saved: SavedCursor | undefined): [Pass, ...Pass[]] {
  const { since, until } = window;
  if (!saved || saved.since > since || saved.until <= since || saved.until > until) return [window];
  const rest: Pass = { since, until: saved.until, next: saved.next };
  return saved.until < until
    ? [rest, { since: Math.max(since, saved.until - LONGEST_CALL_MS), until }]
    : [rest];
}
