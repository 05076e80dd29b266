import { setTimeout as delay } from 'node:timers/promises';
import type { DeadJobs } from './engines/engine.ts';
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

  /** Resolves with how many jobs were dead. */
  retryAll(): Promise<number> {
    const { asNewJob } = this.#deadJobs;
    return this.#deadJobs.retryAll((key) => {
      this.#journal.write({ kind: 'retried', at: monotonicMs(), key, asNewJob });
    });
  }

  async #retryUntilStopped(): Promise<void> {
    while (!this.#stopped) {
      await delay(EVERY_MS);
      // The server may be down; the next round tries again.
      await this.retryAll().catch(() => undefined);
    }
  }
}
