import type { Outcome } from '@call-webhooks/core';
import { callHook } from '@call-webhooks/core/internal';

/** What a reconciliation found and did. */
export interface ReconcileResult {
  /** Calls in the window. */
  seen: number;
  /** Events that no delivery had come for. */
  missed: number;
  /** Events that were run now and handled, or put into the queue. */
  handled: number;
  /** Events that were done before, or are running. */
  known: number;
  /** Events that were in the dead letters before. They don't run until they are redriven. */
  inDeadLetters: number;
  /**
   * Events that were run now and failed. They are in the dead letters if the receiver has given them
   * up; the next run finds the others again.
   */
  failed: number;
  /** Events that the receiver has no handler for. */
  ignored: number;
  /**
   * Calls that were left out: the store may have forgotten them, or their record has no time that can
   * be read.
   */
  skipped: number;
}

export const emptyResult = (): ReconcileResult => ({
  seen: 0,
  missed: 0,
  handled: 0,
  known: 0,
  inDeadLetters: 0,
  failed: 0,
  ignored: 0,
  skipped: 0,
});

/** What was delivered came to nothing because of the receiver: no other event would do better. */
const STOPPING = new Set([
  'overloaded',
  'shutting-down',
  'store-unavailable',
  'secret-unavailable',
]);

/** Whether it makes no sense to go on after this outcome. */
export const isStopping = ({ outcome }: Pick<Outcome, 'outcome'>): boolean => STOPPING.has(outcome);

/** How an event is counted. */
export type Counted = 'handled' | 'known' | 'inDeadLetters' | 'failed' | 'ignored';

export function countedAs({ outcome, attempt }: Pick<Outcome, 'outcome' | 'attempt'>): Counted {
  if (outcome === 'handled' || outcome === 'queued') return 'handled';
  if (outcome === 'duplicate') return 'known';
  if (outcome === 'in-dead-letters') return 'inDeadLetters';
  // With an attempt, it was run here, and lost its lease.
  if (outcome === 'in-progress' && attempt === undefined) return 'known';
  return outcome === 'ignored' ? 'ignored' : 'failed';
}

/** Adds up a result, and tells of each change. */
export class Totals {
  readonly #totals: ReconcileResult;
  readonly #onProgress: ((result: ReconcileResult) => unknown) | undefined;

  constructor(start: ReconcileResult, onProgress?: (result: ReconcileResult) => unknown) {
    this.#totals = { ...start };
    this.#onProgress = onProgress;
  }

  get result(): ReconcileResult {
    return { ...this.#totals };
  }

  add(what: keyof ReconcileResult): void {
    this.#totals[what]++;
  }

  tell(): void {
    if (this.#onProgress) callHook(this.#onProgress, this.result);
  }
}
