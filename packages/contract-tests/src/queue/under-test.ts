import type { Queue, QueuedDelivery, WorkerOptions } from '@call-webhooks/core';

/** What a worker runs: the typed handlers and the sink. */
export type Handling = Pick<WorkerOptions, 'on' | 'onUnhandled' | 'deadLetter' | 'logger'>;

export interface OpenedQueue {
  queue: Queue;
  /**
   * Starts a worker, as users would. `close` is its graceful shutdown: it takes no new job, and
   * waits for the running ones.
   */
  work(handling: Handling): Promise<{ close(): Promise<void> }>;
  /** What the engine itself keeps of the jobs that it gave up on. */
  deadLetters(): Promise<QueuedDelivery[]>;
  /** Called after the workers were closed. */
  close(): Promise<void>;
}

export interface QueueUnderTest {
  name: string;
  /**
   * A fresh, empty queue that runs a job at most `maxAttempts` times, some 2 ms to 50 ms apart. Each
   * of its workers runs `concurrency` jobs at once.
   */
  open(options: { maxAttempts: number; concurrency: number }): Promise<OpenedQueue>;
}

/** How the battery's parts get a queue: it and its workers are closed after the test. */
export type OpenQueue = (options?: {
  maxAttempts?: number;
  concurrency?: number;
}) => Promise<Omit<OpenedQueue, 'close'>>;

/** How often the battery lets a job run, where it does not say so. */
export const MAX_ATTEMPTS = 3;
