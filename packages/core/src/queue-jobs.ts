import type { QueuedDelivery } from './queue.ts';

/**
 * What becomes of a job: it waits for a run, also after one that failed; a worker runs it; it was given up; or it
 * was handled, and its queue still knows it as a duplicate.
 */
export type JobState = 'waiting' | 'running' | 'dead' | 'done';

/** A job of a queue, as an erasure sees it. */
export interface ListedJob {
  readonly id: string;
  readonly state: JobState;
  /** When it was received, or when it failed last if it is dead. */
  readonly at: Date;
  /** What the queue keeps of its delivery. The body of a job that is done is an empty text, or missing. */
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
   * The jobs whose data the queue still keeps, in any order. One that changes its state meanwhile may be left out.
   * @param query.cursor the `cursor` of the page before
   * @param query.limit how many jobs a page has at most; 100 by default
   * @throws WebhookError `invalid-cursor` for a cursor that no list gave
   */
  list(query?: { cursor?: string | undefined; limit?: number | undefined }): Promise<JobPage>;
  /**
   * Erases a job that is still in this state, atomically: one that waits or is dead is removed, and one that is
   * done keeps its id alone, by which the queue knows duplicates.
   * @returns `false` if there is none with this id in this state
   */
  erase(id: string, state: Exclude<JobState, 'running'>): Promise<boolean>;
  /**
   * Forgets events whose jobs are done, so that the queue takes them once more.
   * @param keys their idempotency keys
   * @returns how many it knew
   */
  forget(keys: readonly string[]): Promise<number>;
}
