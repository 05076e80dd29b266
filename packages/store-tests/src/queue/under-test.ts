import type { Queue, QueuedDelivery, WorkerHealth, WorkerOptions } from '@call-webhooks/core';
import type { Refusals } from '../refusals.ts';
import type { Tests } from '../runner.ts';

/** The handlers and hooks that a test gives to a worker. */
export type WorkerHandlers = Pick<
  WorkerOptions,
  'on' | 'custom' | 'onUnhandled' | 'deadLetter' | 'logger'
>;

/** A worker as users start it. */
export interface StartedWorker {
  /** Its graceful shutdown: it takes no new job and waits for running ones. */
  close(): Promise<void>;
  /** Of every worker with a process of its own. */
  health?(): Promise<WorkerHealth>;
}

export interface OpenedQueue {
  queue: Queue;
  startWorker(handlers: WorkerHandlers): Promise<StartedWorker>;
  /** How what a delivery and a job write can be refused. */
  refusals?: Refusals;
  /** The jobs that the engine keeps as dead. */
  deadLetters(): Promise<QueuedDelivery[]>;
  /** Called after the workers were closed. */
  close(): Promise<void>;
}

/** What an engine may be unable to do. */
export type QueueFeature =
  /** To queue an event once, by its key. */
  | 'deduplication'
  /** To keep the error of the last attempt while `deadLetter` fails. */
  | 'failure-reason'
  /** To say that it answers, and to end a worker without losing its turn. */
  | 'shutdown'
  /** To refuse what is written while it answers. */
  | 'refusals'
  /** A worker with a process of its own, which has a health. */
  | 'worker-health';

export interface QueueUnderTest<Opened = OpenedQueue> {
  name: string;
  /** How long a test waits for a job or its end; milliseconds, 60,000 by default. */
  within?: number;
  /** What its engine can't do, which its docs must say. */
  lacks?: readonly QueueFeature[];
  /**
   * Opens a new, empty queue that runs a job at most `maxRuns` times, 2 to 50 ms apart. Each
   * worker runs `concurrency` jobs at once.
   */
  open(options: { maxRuns: number; concurrency: number }): Promise<Opened>;
}

/** Opens a queue for one test. The queue and its workers are closed after the test. */
export type OpenQueue<More = {}> = (options?: {
  maxRuns?: number;
  concurrency?: number;
}) => Promise<Omit<OpenedQueue, 'close'> & More>;

/** What a group of contract tests works with. */
export interface QueueTestContext<More = {}> extends Pick<Tests, 'it'> {
  open: OpenQueue<More>;
  /** Waits for what a worker does. */
  waitFor(condition: () => boolean | Promise<boolean>): Promise<void>;
}

/** Attempts of a job, unless a test asks for another number. */
export const MAX_ATTEMPTS = 3;
