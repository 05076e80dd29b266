import {
  docsUrl,
  loggedError,
  safeLogger,
  type JobProcessor,
  type Logger,
  type QueuedDelivery,
} from '@call-webhooks/core';
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
  { maxAttempts, delay, deadQueue, logger }: RunnerSettings,
): (message: QueueMessage, queue: string, signal: AbortSignal) => Promise<void> {
  /** Whether the message is no longer needed. */
  async function isSettled(message: QueueMessage, signal: AbortSignal): Promise<boolean> {
    const { body, attempts: attempt } = message;
    const result = await process(body as QueuedDelivery, {
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
    if (result.status === 'dead') await deadQueue?.send(body, { contentType: 'json' });
    return result.status !== 'retry';
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
        `call-webhooks: a dead job was not sent to deadQueue, which is tried again: ${text}`,
      );
    }
    message.retry({ delaySeconds: Math.min(MAX_DELAY_S, Math.ceil(delay(attempt) / 1_000)) });
  };
}
