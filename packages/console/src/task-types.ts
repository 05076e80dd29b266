import type { OutcomeCode } from '@call-webhooks/core';
import type { EventState } from '@call-webhooks/core/stores';
import type { ReconcileResult, RedriveResult } from '@call-webhooks/recovery';
import type { DeadLetterSelection } from './api-types.ts';

/** What runs now or ran last, in whichever process. */
export interface Tasks {
  /** `false`: the store has no cursors, so those of other processes are not known. */
  shared: boolean;
  redrive: RedriveTask | null;
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

/** Which letters are run again: exactly one of the three. */
export type RedriveRequest = (
  { ids: string[] } | { filter: DeadLetterSelection } | { all: true }
) & {
  /** How long the answer waits for the end; 0 to 20,000, 0 by default. Serverless needs it. */
  waitMs?: number;
};

export interface RedriveTask extends Task {
  /** The text of the cause whose letters are meant; absent if none was chosen. */
  cause?: string;
  /** `null` until they are counted. */
  total: number | null;
  counts: RedriveResult;
  /** How often a store failed, and the letter was tried again. */
  retries: number;
  /** The last 50 letters that were run, newest first. */
  letters: { id: string; result: keyof RedriveResult; outcome?: OutcomeCode }[];
}

export interface ReconcileRequest {
  /** Only looks up which events were missed. Runs nothing and changes nothing. */
  dryRun: boolean;
  /** Calls that began then or later. One before all that the store knows is moved to then. */
  since: number;
  /** What happened before; 10 minutes ago by default. */
  until?: number | undefined;
  /** As in `RedriveRequest`. */
  waitMs?: number | undefined;
}

export interface ReconcileTask extends Task {
  dryRun: boolean;
  since: number;
  /** What was asked for, if the store knows nothing from so long ago: then `since` is later. */
  askedSince?: number;
  until: number;
  /** Calls in the window, and what became of their events. */
  counts: ReconcileResult;
  /** Those that were missed or failed so far, at most 200, and of the others at most 50. */
  events: ReconciledRow[];
  /**
   * After a dry run that found missed events: why, as far as the log tells. The run for real of the same
   * window keeps them.
   */
  reasons: MissReason[];
  /** The runs before, newest first; at most 10. */
  earlier: Omit<ReconcileTask, 'events' | 'reasons' | 'earlier'>[];
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

/** A stretch of time in which events were missed. */
export interface MissReason {
  /**
   * `silence`: no delivery came to any process. `rejected`: deliveries came that no secret verified.
   * `failed`: deliveries failed before the store knew their events. `single`: only others came.
   * `unknown`: the log does not go back so far.
   */
  kind: 'silence' | 'rejected' | 'failed' | 'single' | 'unknown';
  missed: number;
  /** What the deliveries of `rejected` and `failed` came to. */
  outcomes: OutcomeCode[];
  /** The last minute before it with a delivery, and the first one after it; `null`: none is known. */
  from: number | null;
  until: number | null;
  /**
   * Deliveries that failed in the half hour before a silence, without those whose events were handled or
   * dead-lettered then: the service pauses a rule after retries.
   */
  failedBefore: number;
  /** Of a silence: whether a process ran all the time, so that it was not down. `null`: not known. */
  wasRunning: boolean | null;
}
