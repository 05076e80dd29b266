import type { QueuedDelivery } from './queue.ts';

/**
 * The state of a job: it is waiting for a run, possibly after one that failed (`waiting`); a worker is
 * running it (`running`); it was given up (`dead`); or it was handled, and its queue still recognizes
 * duplicates of it (`done`).
 */
export type JobState = 'waiting' | 'running' | 'dead' | 'done';

/** A job of a queue, as an erasure sees it. */
export interface ListedJob {
  readonly id: string;
  readonly state: JobState;
  /** When it was received, or when it failed last if it is dead. */
  readonly at: Date;
  /**
   * What the queue keeps of its delivery. The body of a job that is done is an empty string, or
   * missing.
   */
  readonly delivery: Partial<QueuedDelivery>;
}

/** Some jobs of a queue. */
export interface JobPage {
  jobs: ListedJob[];
  /** Absent on the last page. */
  cursor?: string;
}

/** The jobs of a queue in every state, for `erase()`. */
export interface QueueJobs {
  /**
   * The jobs whose data the queue still keeps, in any order. A job that changes its state meanwhile may
   * be left out.
   * @param query.cursor the `cursor` of the previous page
   * @param query.limit the maximum number of jobs on a page; 100 by default
   * @throws WebhookError `invalid-cursor` for a cursor that this list never returned
   */
  list(query?: { cursor?: string | undefined; limit?: number | undefined }): Promise<JobPage>;
  /**
   * Erases a job that is still in this state, atomically: a job that is waiting or dead is removed, and
   * a job that is done keeps only its id, by which the queue recognizes duplicates.
   * @returns `false` if there is none with this id in this state
   */
  erase(id: string, state: Exclude<JobState, 'running'>): Promise<boolean>;
  /**
   * Forgets events whose jobs are done, so that the queue accepts them once more.
   * @param keys their idempotency keys
   * @returns the number of events that it knew
   */
  forget(keys: readonly string[]): Promise<number>;
}
