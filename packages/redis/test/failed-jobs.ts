import { expect, jest } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import type { BullmqFailedJob, BullmqFailedJobs } from '../src/bullmq-dead-jobs.ts';

export const DELIVERY = queuedCall('call-1');

/** A failed job of a receiver. */
export const failedJob = (
  more: Partial<Omit<BullmqFailedJob, 'retry' | 'remove' | 'isFailed'>> = {},
) => ({
  ...{ id: 'job', data: DELIVERY, attemptsStarted: 3, failedReason: 'the CRM is down' },
  finishedOn: 1_000,
  ...more,
  retry: jest.fn((_state: 'failed') => Promise.resolve()),
  isFailed: jest.fn(() => Promise.resolve(true)),
  remove: jest.fn(() => Promise.resolve()),
});

/** A queue whose failed jobs BullMQ lists so, in the order of their times and ids. */
export function queueOf(jobs: (BullmqFailedJob | undefined)[]) {
  const queue: BullmqFailedJobs = {
    getJob: jest.fn((id: string) => Promise.resolve(jobs.find((job) => job?.id === id))),
    getJobs: jest.fn((types: 'failed'[], from: number, to: number, ascending: boolean) => {
      expect([types, ascending]).toEqual([['failed'], true]);
      return Promise.resolve(jobs.slice(from, to + 1));
    }),
    getFailedCount: jest.fn(() => Promise.resolve(jobs.length)),
  };
  return queue;
}

/** `count` failed jobs, of which three failed in each millisecond from 1,000 on. */
export const manyJobs = (count: number) =>
  Array.from({ length: count }, (_, index) =>
    failedJob({
      id: String(index).padStart(4, '0'),
      finishedOn: 1_000 + Math.floor(index / 3),
    }),
  );
