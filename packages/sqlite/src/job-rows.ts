import type { QueuedDelivery } from '@call-webhooks/core';
import type { JobFailure } from '@call-webhooks/core/stores';

/** How many jobs are in each state. */
export interface QueueStats {
  /** Can be run now. */
  waiting: number;
  /** Failed, and wait for their next attempt. */
  delayed: number;
  /** Leased to a worker. */
  running: number;
  /** Handled; their events are known as duplicates. */
  done: number;
  /** Given up, and kept. */
  dead: number;
}

/** A job that was given up. */
export interface DeadJob {
  id: number;
  delivery: QueuedDelivery;
  attempt: number;
  /** Why the last attempt failed, without values of the payload. */
  error: string;
  failedAt: Date;
  /** Its failed attempts, oldest first; at most the last 50. */
  failures: JobFailure[];
}

/** Dead jobs that come after one. Times are milliseconds since the epoch. */
export interface DeadRange {
  /** Inclusive start. */
  since: number;
  /** Exclusive end. */
  until: number;
  /** Of the job before. */
  failedAt: number;
  id: number;
}

/** A job under a lease. */
export interface TakenJob {
  id: number;
  token: string;
  attempt: number;
  /** How many runs before this one, in a row, ended with their process. */
  crashes: number;
  /** Set: the handler's attempts are used up, and `deadLetter` failed. */
  abandonReason: string | undefined;
  /** Retried by hand: it is dead again if this run fails. */
  isLastRun: boolean;
  delivery: QueuedDelivery;
}

/** A row of the table of jobs. */
export type Row = Record<string, unknown>;

const deliveryOf = (row: Row) => JSON.parse(String(row['delivery'])) as QueuedDelivery;

export function takenJob(row: Row, token: string): TakenJob {
  return {
    id: Number(row['id']),
    token,
    attempt: Number(row['attempt']),
    crashes: Number(row['crashes']),
    abandonReason: (row['abandonReason'] as string | null) ?? undefined,
    isLastRun: Number(row['isLastRun']) === 1,
    delivery: deliveryOf(row),
  };
}

export const failureJson = (failure: JobFailure): string => JSON.stringify(failure);

export function deadJob(row: Row): DeadJob {
  return {
    id: Number(row['id']),
    delivery: deliveryOf(row),
    attempt: Number(row['attempt']),
    error: String(row['error']),
    failedAt: new Date(Number(row['failedAt'])),
    failures: JSON.parse(String(row['failures'])) as JobFailure[],
  };
}
