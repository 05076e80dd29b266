import type { Window } from '../reconcile/window.ts';
import type { ReconcilerSettings, ReconcilerStore } from './options.ts';

/** What the processes of one reconciler know together. Milliseconds since the epoch. */
export interface ReconcilerState {
  /** When the first of them was started: no run looks at calls from before. */
  readonly from: number;
  /** Everything that happened before is done. */
  readonly doneUntil: number;
  /** When the last run began; absent before the first one. */
  readonly ranAt?: number;
}

/** The state before the very first run. */
export function firstState({ since }: ReconcilerSettings, now: number): ReconcilerState {
  const from = since?.getTime() ?? now;
  return { from, doneUntil: from };
}

const cursorName = (name: string) => `${name}/schedule`;

/** What cannot be read counts as nothing: then the reconciler starts anew. */
export async function loadState(
  store: ReconcilerStore,
  name: string,
): Promise<ReconcilerState | undefined> {
  try {
    const state = JSON.parse((await store.loadCursor(cursorName(name))) ?? '{}') as ReconcilerState;
    return typeof state.from === 'number' && typeof state.doneUntil === 'number'
      ? state
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const saveState = (
  store: ReconcilerStore,
  name: string,
  state: ReconcilerState,
): Promise<void> => store.saveCursor(cursorName(name), JSON.stringify(state));

/**
 * The calls that a run looks at: since what is done, but as far back as calls last, and no further than
 * the store remembers. It may be empty.
 */
export function nextWindow(
  { from, doneUntil }: ReconcilerState,
  { lookBack, settleFor, store }: ReconcilerSettings,
  now: number,
): Window {
  const remembered = now - (store.rememberFor ?? 0);
  const since = Math.max(from, remembered, Math.min(doneUntil, now - lookBack));
  return { since, until: now - settleFor };
}
