import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, PulledJob, QueuedDelivery, WorkerHandler } from '@call-webhooks/core';
import type { PgBossClient, PgBossJob } from './pg-boss.ts';

/** What a run needs of its worker. */
export interface Workshop {
  readonly boss: PgBossClient;
  readonly queue: string;
  readonly deadLetterQueue: string;
  readonly handle: WorkerHandler;
  readonly logger: Logger;
}

const SETTLE_AGAIN_MS = 250;

/** One run of one job of pg-boss, until pg-boss knows how it ended. */
export class PgBossRun implements PulledJob {
  readonly #job: PgBossJob;
  readonly #shop: Workshop;
  readonly #until: number;
  #givenBack = false;

  constructor(job: PgBossJob, shop: Workshop) {
    this.#job = job;
    this.#shop = shop;
    this.#until = performance.now() + job.expireInSeconds * 1_000;
  }

  async run(stop: AbortSignal): Promise<void> {
    const { boss, queue, handle } = this.#shop;
    const { id, data, retryCount, retryLimit, expireInSeconds } = this.#job;
    const expired = AbortSignal.timeout(expireInSeconds * 1_000);
    try {
      await handle(data as QueuedDelivery, {
        attempt: retryCount + 1,
        last: retryCount >= retryLimit,
        signal: AbortSignal.any([stop, expired]),
      });
      // Late or not: the effect has happened.
      await this.#settle(() => boss.complete(queue, id), Infinity, stop);
    } catch (error) {
      await this.#failed(error, stop);
    }
  }

  /** pg-boss knows no other way back: the job is retried, or dead if this was its last attempt. */
  async giveBack(): Promise<void> {
    this.#givenBack = true;
    const { boss, queue } = this.#shop;
    await boss.fail(queue, this.#job.id, {
      message: 'The worker closed before the handler ended.',
    });
  }

  async #failed(error: unknown, stop: AbortSignal): Promise<void> {
    const { boss, queue, deadLetterQueue, logger } = this.#shop;
    const { id, data, retryCount, retryLimit } = this.#job;
    const { code, message } = error as { code?: unknown; message: string };
    const attempt = String(retryCount + 1);
    const { webhookId } = data as QueuedDelivery;
    if (code === 'invalid-payload') {
      logger.error(`call-webhooks: gave up on delivery ${webhookId} at once: ${message}`);
      // Under the same id, so that it is there once, whatever is repeated.
      await this.#settle(
        () => boss.send(deadLetterQueue, data as QueuedDelivery, { id }),
        Infinity,
        stop,
      );
      await this.#settle(() => boss.complete(queue, id), Infinity, stop);
      return;
    }
    if (retryCount >= retryLimit)
      logger.error(
        `call-webhooks: gave up on delivery ${webhookId} after ${attempt} attempts: ${message}`,
      );
    else
      logger.warn(`call-webhooks: attempt ${attempt} at delivery ${webhookId} failed: ${message}`);
    // Once expired the job may be somebody else's, and pg-boss has no token to tell.
    await this.#settle(() => boss.fail(queue, id, { message }), this.#until, stop);
  }

  /** Tells pg-boss until it hears, so that an outage of Postgres does not run the handler once more. */
  async #settle(tell: () => Promise<unknown>, until: number, stop: AbortSignal): Promise<void> {
    while (!this.#givenBack && performance.now() < until) {
      try {
        await tell();
        return;
      } catch {
        if (stop.aborted) return;
        await delay(SETTLE_AGAIN_MS);
      }
    }
  }
}
