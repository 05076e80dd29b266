import type { OutcomeCode } from '@call-webhooks/core';
import type { EventState } from '@call-webhooks/core/stores';
import type { EraseResult, ReconcileResult, RedriveResult } from '@call-webhooks/recovery';
import type { MissReason as Reason } from '@call-webhooks/recovery/internal';

/** Why events were missed. */
export interface MissReason extends Reason {
  /** Sentences in Markdown. A time is `<…>`, with the milliseconds since the epoch: readers have zones of their own. */
  readonly text: string;
}

/** What runs now or ran last, in whichever process. */
export interface Tasks {
  /** `false`: the store has no cursors, so those of other processes are not known. */
  shared: boolean;
  redrive: RedriveTask | null;
  /** No two of the redrive, the removal and the erasure run at once. */
  removal: RemovalTask | null;
  erasure: ErasureTask | null;
  reconcile: ReconcileTask | null;
  /** How many dead letters wait; `null` without `deadLetters`, and while their store does not respond. */
  waiting: number | null;
}

/** What all tasks have. */
export interface Task {
  id: string;
  /** The name that `authorize` gave. */
  by: string | null;
  startedAt: number;
  endedAt: number | null;
  /** `lost`: its process died, or lost its lease. Another one may be started. */
  state: 'running' | 'done' | 'stopped' | 'failed' | 'lost';
  /** When its process wrote it last. */
  savedAt: number;
  /** Set with `failed`. */
  error?: string;
}

/** What goes through many dead letters. */
export interface LettersTask extends Task {
  /** The text of the cause whose letters are meant; absent if none was chosen. */
  cause?: string;
  /** `null` until they are counted. */
  total: number | null;
  /** When they were counted and the first one began. */
  countedAt: number | null;
  /** How often a store failed, and the letter was tried again. */
  retries: number;
}

export interface RedriveTask extends LettersTask {
  counts: RedriveResult;
}

export interface RemovalTask extends LettersTask {
  counts: { removed: number; notFound: number };
}

/** Erases the letters of a person, and what belongs to them. It never has whom it is for. */
export interface ErasureTask extends Task {
  /** Whether the keys of their events are forgotten, too. */
  forgetKeys: boolean;
  /** How many letters were looked at. What was erased is looked for once more. */
  checked: number;
  /** How often a store failed, and was asked again. */
  retries: number;
  counts: EraseResult;
}

export interface ReconcileTask extends Task {
  dryRun: boolean;
  since: number;
  /** What was asked for, if the store knows nothing from so long ago: then `since` is later. */
  askedSince?: number;
  until: number;
  /** Whose calls the client lists; absent without tenants. */
  tenant?: string;
  /** Calls in the window, and what became of their events. */
  counts: ReconcileResult;
  /** Those that were missed or failed so far, at most 200, and of the others at most 50. */
  events: ReconciledRow[];
  /**
   * After a dry run that found missed events: why, as far as the log tells. The run for real of the same
   * window keeps them.
   */
  reasons: MissReason[];
}

export interface ReconciledRow {
  callId: string;
  eventName: string;
  /** When the call ended or began. */
  at: number;
  missed: boolean;
  /** After a dry run: why it was missed. Absent without a log. */
  reason?: MissReason['kind'];
  /** In a dry run; absent for what was missed. */
  state?: EventState;
  /** Otherwise. */
  outcome?: OutcomeCode;
}
