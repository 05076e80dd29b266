import type { Queue, Store } from '@call-webhooks/core';
import type { journalHandlers } from '../handlers.ts';

export const ENGINES = ['redis', 'postgres', 'sqlite'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Milliseconds of the leases of receivers and workers: short, so that much happens in a short run. */
export const LEASE_MS = 1_500;
/** Runs of a queued job until it is dead. */
export const QUEUE_ATTEMPTS = 8;

/** Jobs at once in a worker: one of the two that are left keeps up with the sender. */
export const CONCURRENCY = 30;

/** What a receiver or a worker needs, opened in its process. */
export interface Engine {
  store(url: string): Promise<Store>;
  queue(url: string): Promise<Queue>;
  startWorker(url: string, handlers: ReturnType<typeof journalHandlers>): Promise<void>;
}
