import {
  docsUrl,
  loggedError,
  safeLogger,
  type JobProcessor,
  type Logger,
  type QueuedDelivery,
} from '@call-webhooks/core';
import { isLarge, type LargeBodies } from './large-bodies.ts';
import type { QueueProducer } from './queue.ts';

/** What is used of a message of Cloudflare Queues. */
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** 1 for the first delivery to a consumer. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** How messages are run. */
export interface RunnerSettings {
  readonly maxAttempts: number;
  /** Milliseconds to wait after an attempt. */
  readonly delay: (attempt: number) => number;
  readonly deadQueue: QueueProducer | undefined;
  readonly largeBodies: LargeBodies | undefined;
  readonly logger: Logger;
}

/** Cloudflare's longest delay; seconds. */
const MAX_DELAY_S = 43_200;

/**
 * Creates the function that runs the job of a message, and acknowledges or retries the message. It
 * never rejects.
 */
export function messageRunner(
  process: JobProcessor,
  { maxAttempts, delay, deadQueue, largeBodies, logger }: RunnerSettings,
): (message: QueueMessage, queue: string, signal: AbortSignal) => Promise<void> {
  /** The delivery of a message. Without one, its job is done. */
  async function deliveryOf(message: unknown): Promise<QueuedDelivery | undefined> {
    if (largeBodies) return largeBodies.unpack(message);
    if (isLarge(message)) throw new Error('The option largeBodies is missing.');
    return message as QueuedDelivery;
  }

  /** Whether the message is no longer needed. */
  async function isSettled(message: QueueMessage, signal: AbortSignal): Promise<boolean> {
    const { body, attempts: attempt } = message;
    const delivery = await deliveryOf(body);
    if (!delivery) return true;
    const result = await process(delivery, {
      attempt,
      maxAttempts,
      isLastAttempt: attempt >= maxAttempts,
      // Its last attempt ended with its Worker, or deadLetter or deadQueue failed.
      abandonReason:
        attempt > maxAttempts
          ? new Error(`None of ${String(maxAttempts)} attempts succeeded.`)
          : undefined,
      signal,
    });
    if (result.status === 'retry') return false;
    if (result.status === 'dead' && deadQueue) await deadQueue.send(body, { contentType: 'json' });
    // Otherwise it is swept.
    else await largeBodies?.drop(body).catch(() => undefined);
    return true;
  }

  return async (message, queue, signal) => {
    const { id, attempts: attempt } = message;
    try {
      if (!signal.aborted && (await isSettled(message, signal))) {
        message.ack();
        return;
      }
    } catch (error) {
      const { text, err } = loggedError(error);
      safeLogger(logger).error(
        { queue, messageId: id, attempt, err, docs: docsUrl('queues.md#cloudflare-queues') },
        `call-webhooks: a message could not be read, or a dead job not be sent to deadQueue. It is tried again: ${text}`,
      );
    }
    message.retry({ delaySeconds: Math.min(MAX_DELAY_S, Math.ceil(delay(attempt) / 1_000)) });
  };
}
