import type { OutcomeCode } from '@call-webhooks/core';

/** Which letters are run again. */
export type RedriveRequest = (
  | { ids: string[] }
  | { filter: { event?: string; reason?: string; tenant?: string; since?: number; until?: number } }
  | { all: true }
) & {
  /** How long the answer waits for the end; 0 to 20,000, 0 by default. Serverless needs it. */
  waitMs?: number;
};

/** One redrive of this process. The last one is kept. */
export interface RedriveTask {
  id: string;
  by: string | null;
  startedAt: number;
  endedAt: number | null;
  state: 'running' | 'done' | 'aborted' | 'failed';
  /** Set with `failed`. */
  error?: string;
  /** `null` until they are counted. */
  total: number | null;
  counts: RedriveCounts;
  /** The last 200 letters that were run, newest first. */
  letters: { id: string; result: keyof RedriveCounts; outcome?: OutcomeCode }[];
}

/** What became of the letters. Each is counted once. */
export interface RedriveCounts {
  handled: number;
  /** Given back to a queue, whose workers run them. */
  queued: number;
  failed: number;
  alreadyHandled: number;
  /** No result came in time: the handlers may be running. */
  unknown: number;
  skipped: number;
}

export interface ReconcileRequest {
  /** Only asks the service which events should have come. Runs nothing and changes nothing. */
  dryRun: boolean;
  /** Calls that began then or later. One before all that the store knows is moved to then. */
  since: number;
  /** What happened before; 10 minutes ago by default. */
  until?: number;
  /** As in `RedriveRequest`. */
  waitMs?: number;
}

export interface ReconcileState {
  running: ReconcileRun | null;
  /** The last runs of this process, newest first; at most 20. */
  runs: ReconcileRun[];
}

export interface ReconcileRun {
  id: string;
  /** `null` as in `Session`, or if the reconciler ran by itself. */
  by: string | null;
  dryRun: boolean;
  since: number;
  /** What was asked for, if the store knows nothing from so long ago: then `since` is later. */
  askedSince?: number;
  until: number;
  startedAt: number;
  endedAt: number | null;
  state: 'running' | 'done' | 'aborted' | 'failed';
  error?: string;
  /** Calls in the window, and what became of their events. */
  counts: ReconcileCounts;
  /** The events that were missed. In a dry run: all that should have come. At most 200. */
  events: { callId: string; eventName: string; outcome?: OutcomeCode; missed: boolean }[];
}

/** As the result of `reconcile`. In a dry run, only `seen`, `expected` and `skipped` count. */
export interface ReconcileCounts {
  seen: number;
  /** In a dry run: events that should have come. Whether they did is not looked up. */
  expected: number;
  missed: number;
  handled: number;
  known: number;
  inDeadLetters: number;
  failed: number;
  ignored: number;
  skipped: number;
}
