import type { OutcomeCode } from '../outcome/outcomes.ts';
import type { WebhookError } from '../outcome/webhook-error.ts';

/** What a queue's engine knows about one run of a job. */
export interface WorkerJob {
  /** 1 for the first run, which is the default. Runs that ended with their process count as well. */
  attempt?: number | undefined;
  /** How many runs the engine makes; the worker's option by default. */
  maxAttempts?: number | undefined;
  /** Whether the engine gives up when this run fails; `attempt >= maxAttempts` by default. */
  isLastAttempt?: boolean | undefined;
  /** If set, no handler is run: the job goes to `deadLetter` for this reason. */
  abandonReason?: Error | undefined;
  /** Aborted when the engine takes the job back. */
  signal?: AbortSignal | undefined;
  /** For `context.completeIn`: how the job is completed in a transaction of its handler. */
  transaction?: JobTransaction | undefined;
}

/** The outcomes of a worker. The others are about requests and leases. */
export type JobOutcome = Extract<
  OutcomeCode,
  'handled' | 'ignored' | 'handler-failed' | 'invalid-payload' | 'dead-lettered'
>;

/** What the engine has to do with a job after a run. */
export type JobResult =
  | { status: 'done' }
  /**
   * Run it again later. With `abandonReason` the attempts are used up and `deadLetter` failed: pass
   * the reason on to the next run, which then calls `deadLetter` only.
   */
  | { status: 'retry'; error: WebhookError; abandonReason?: string }
  /** Never run it again; `deadLetter` has it. */
  | { status: 'dead'; error: WebhookError };

/** The job of a run, in the database of its handlers. */
export interface JobTransaction {
  /**
   * Completes the job with a statement of the handler's transaction, for `context.completeIn`.
   * @returns `false` if the job was lost: another worker may run it
   */
  completeIn(tx: unknown): boolean | Promise<boolean>;
  /** Whether this run has completed the job. It waits for a commit that is under way. */
  isCompleted(): Promise<boolean>;
}
