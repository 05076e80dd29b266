import { setTimeout as delay } from 'node:timers/promises';
import type { DeadJobs } from '@call-webhooks/core/stores';
import { monotonicMs, type Journal } from './journal.ts';

const EVERY_MS = 1_500;

/** Somebody who retries dead jobs by hand again and again, also while processes and server are down. */
export class Operator {
  readonly #deadJobs: DeadJobs;
  readonly #journal: Journal;
  #stopped = false;
  #loop: Promise<void> | undefined;

  constructor(deadJobs: DeadJobs, journal: Journal) {
    this.#deadJobs = deadJobs;
    this.#journal = journal;
  }

  start(): void {
    this.#loop = this.#retryUntilStopped();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
  }

  /** Returns all dead jobs to the queue, and resolves with how many there were. */
  async retryAll(): Promise<number> {
    const { letters } = await this.#deadJobs.list({ limit: 1_000 });
    let retried = 0;
    for (const { id, key = '' } of letters) {
      // Before the call: its answer may be lost.
      this.#journal.write({ kind: 'retried', at: monotonicMs(), key });
      if (await this.#deadJobs.requeue(id)) retried += 1;
    }
    return retried;
  }

  async #retryUntilStopped(): Promise<void> {
    while (!this.#stopped) {
      await delay(EVERY_MS);
      // The server may be down; the next round tries again.
      await this.retryAll().catch(() => undefined);
    }
  }
}
