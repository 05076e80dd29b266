import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, Store } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import type { EffectTable } from '../effects.ts';
import type { journaledHandlers } from '../handlers.ts';
import type { JobRenewalEntry, Journal } from '../journal.ts';

export const ENGINES = ['redis', 'postgres', 'mysql', 'sqlite'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Milliseconds of the leases of receivers and workers: short, so that much happens in a short run. */
export const LEASE_MS = 1_500;
/** Runs of a queued job before it is dead. */
export const QUEUE_ATTEMPTS = 8;
/** Concurrent jobs in a worker: a single one of the two workers keeps up with the service. */
export const CONCURRENCY = 30;

/** What the engine has, for somebody who looks for the cause of a violation. */
export interface EngineState {
  /** How many jobs are in each state; absent without a queue. */
  stats?(): Promise<unknown>;
  /** The rows of the event, and those of its jobs without their bodies. */
  rows(key: string): Promise<unknown[]>;
}

/** What a receiver or a worker needs, opened in its own process. */
export interface Engine {
  store(url: string): Promise<Store>;
  queue(url: string): Promise<Queue>;
  deadJobs(url: string): Promise<DeadJobs>;
  /** @param journal of this process */
  startWorker(
    url: string,
    handlers: ReturnType<typeof journaledHandlers>,
    journal: Journal,
  ): Promise<void>;
  /** Renewals of jobs that the engine records itself. Call it when all workers have started. */
  jobRenewals?(url: string): Promise<{ read(): JobRenewalEntry[] }>;
  state(url: string): Promise<EngineState>;
  /** A table in the store's database. Absent: it has no transactions. */
  effects?(url: string): Promise<EffectTable>;
}

/** Repeats until it succeeds: a process may start while its server is down. */
export async function retryUntilSuccess<T>(action: () => Promise<T> | T): Promise<T> {
  for (;;) {
    try {
      return await action();
    } catch {
      await delay(100);
    }
  }
}
