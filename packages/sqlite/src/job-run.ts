import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, PolledJob, WorkerHandler } from '@call-webhooks/core';
import type { Jobs, TakenJob } from './jobs.ts';

/** What a run needs of its worker. */
export interface Workshop {
  readonly jobs: Jobs;
  readonly handle: WorkerHandler;
  /** The ids of the jobs that run in this worker. */
  readonly running: Set<number>;
  readonly backoff: (attempt: number) => number;
  readonly leaseFor: number;
  readonly maxAttempts: number;
  readonly logger: Logger;
}

/** Attempts beyond `maxAttempts`, all lost with their process, until a job is not begun any more. */
const LOST_ATTEMPTS = 3;
const LOST = 'Its process died in each of the last attempts.';
const SETTLE_AGAIN_MS = 250;

/** One run of one job, from its lease to its end. */
export class JobRun implements PolledJob {
  readonly #job: TakenJob;
  readonly #shop: Workshop;
  readonly #lost = new AbortController();

  constructor(job: TakenJob, shop: Workshop) {
    this.#job = job;
    this.#shop = shop;
  }

  async run(stop: AbortSignal): Promise<void> {
    const { jobs, handle, running, leaseFor, maxAttempts } = this.#shop;
    const { id, attempt, delivery } = this.#job;
    // The handler is not begun, and `deadLetter` is told.
    const abandonReason = attempt > maxAttempts + LOST_ATTEMPTS ? new Error(LOST) : undefined;
    const renewal = setInterval(() => void this.#renew(), leaseFor / 3);
    running.add(id);
    try {
      const signal = AbortSignal.any([stop, this.#lost.signal]);
      await handle(delivery, {
        attempt,
        isLastAttempt: attempt >= maxAttempts,
        abandonReason,
        signal,
      });
      await this.#settle(() => jobs.done(this.#job), stop);
    } catch (error) {
      await this.#failed(error, stop);
    } finally {
      clearInterval(renewal);
      running.delete(id);
    }
  }

  async release(): Promise<void> {
    await this.#shop.jobs.again(this.#job, 0, null);
  }

  async #renew(): Promise<void> {
    const held = await this.#shop.jobs.extend(this.#job, this.#shop.leaseFor).catch(() => true);
    if (!held) this.#lost.abort();
  }

  async #failed(error: unknown, stop: AbortSignal): Promise<void> {
    const { jobs, backoff, maxAttempts, logger } = this.#shop;
    const { attempt, delivery } = this.#job;
    const { code, message } = error as { code?: unknown; message: string };
    if (code === 'invalid-payload' || attempt >= maxAttempts) {
      await this.#dead(message, stop);
      return;
    }
    logger.warn(
      `call-webhooks: attempt ${String(attempt)} at delivery ${delivery.webhookId} failed: ${message}`,
    );
    await this.#settle(() => jobs.again(this.#job, backoff(attempt), message), stop);
  }

  async #dead(message: string, stop: AbortSignal): Promise<void> {
    const { jobs, logger } = this.#shop;
    const { attempt, delivery } = this.#job;
    logger.error(
      `call-webhooks: gave up on delivery ${delivery.webhookId} after ${String(attempt)} attempts: ${message}`,
    );
    await this.#settle(() => jobs.dead(this.#job, message), stop);
  }

  /**
   * A full or locked file must not make a handler run once more: it is tried until it works, or until
   * the worker ends. Nobody can take the job meanwhile, as that is a write, too.
   */
  async #settle(write: () => Promise<boolean>, stop: AbortSignal): Promise<void> {
    for (;;) {
      try {
        await write();
        return;
      } catch {
        if (stop.aborted) return;
        await delay(SETTLE_AGAIN_MS);
      }
    }
  }
}
