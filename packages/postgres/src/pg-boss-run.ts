import { setTimeout as delay } from 'node:timers/promises';
import type { Logger, PolledJob, QueuedDelivery, WorkerHandler } from '@call-webhooks/core';
import { standingOf } from './attempts.ts';
import { createQueues } from './create-queues.ts';
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
const LOST = 'Its last run came to no end: the process died, or expireInSeconds were over.';

/** One run of one job of pg-boss, until pg-boss knows how it ended. */
export class PgBossRun implements PolledJob {
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
    const { id, data, expireInSeconds } = this.#job;
    const { attempt, isLastAttempt, over } = standingOf(this.#job);
    // The handler is not begun, and `deadLetter` is told.
    const abandonReason = over ? new Error(LOST) : undefined;
    const expired = AbortSignal.timeout(expireInSeconds * 1_000);
    try {
      await handle(data as QueuedDelivery, {
        attempt,
        isLastAttempt,
        abandonReason,
        signal: AbortSignal.any([stop, expired]),
      });
      // Late or not: the effect has happened.
      await this.#settle(() => boss.complete(queue, id), Infinity, stop);
    } catch (error) {
      await this.#failed(error, stop);
    }
  }

  /** pg-boss knows no other way back: the job is retried, after the last attempt as well. */
  async release(): Promise<void> {
    this.#givenBack = true;
    const { boss, queue } = this.#shop;
    const message = 'The worker closed before the handler ended.';
    await boss.fail(queue, this.#job.id, { message, givenBack: !standingOf(this.#job).over });
  }

  async #failed(error: unknown, stop: AbortSignal): Promise<void> {
    const { boss, queue, logger } = this.#shop;
    const { id, data } = this.#job;
    const { attempt, isLastAttempt } = standingOf(this.#job);
    const { code, message } = error as { code?: unknown; message: string };
    const { webhookId } = data as QueuedDelivery;
    if (code === 'invalid-payload' || isLastAttempt) {
      logger.error(
        `call-webhooks: gave up on delivery ${webhookId} after ${String(attempt)} attempts: ${message}`,
      );
      await this.#settle(() => this.#bury(message), Infinity, stop);
      return;
    }
    logger.warn(
      `call-webhooks: attempt ${String(attempt)} at delivery ${webhookId} failed: ${message}`,
    );
    // Once expired the job may be somebody else's, and pg-boss has no token to tell.
    await this.#settle(() => boss.fail(queue, id, { message }), this.#until, stop);
  }

  /** Under the job's own id, so that the dead letter is there once, whatever is repeated. */
  async #bury(message: string): Promise<void> {
    const { boss, queue } = this.#shop;
    const { id, data, createdOn, keepUntil } = this.#job;
    const deadLetterQueue = this.#job.deadLetter ?? this.#shop.deadLetterQueue;
    const kept = new Date(keepUntil).getTime() - new Date(createdOn).getTime();
    const retentionSeconds = Math.max(1, Math.ceil(kept / 1_000));
    await createQueues(boss, queue, deadLetterQueue); // to a missing one nothing is sent, silently
    await boss.send(deadLetterQueue, data as QueuedDelivery, { id, retentionSeconds });
    await boss.complete(queue, id, { message });
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
