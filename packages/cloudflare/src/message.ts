import type { Logger, QueuedDelivery } from '@call-webhooks/core';
import type { JobProcessor, JobResult } from '@call-webhooks/core/stores';
import { docsUrl, loggedError, safeLogger } from '@call-webhooks/core/internal';
import { isLarge, type LargeBodies } from './large-bodies.ts';
import type { QueueProducer } from './queue.ts';
import { UnsettledMessages, type Unsettled } from './unsettled.ts';

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
  readonly maxRuns: number;
  /** Milliseconds to wait after an attempt. */
  readonly delay: (attempt: number) => number;
  readonly deadQueue: QueueProducer | undefined;
  readonly largeBodies: LargeBodies;
  readonly logger: Logger;
}

/** The batch of a message. */
export interface RunnerBatch {
  readonly queue: string;
  /** Aborted when no job may begin any more. */
  readonly late: AbortSignal;
  /** Aborted when running handlers have to end. */
  readonly signal: AbortSignal;
}

/** Cloudflare's longest delay; seconds. */
const MAX_DELAY_S = 43_200;

/**
 * Creates the function that runs the job of a message, and acknowledges or retries the message. It
 * never rejects.
 */
export function messageRunner(
  process: JobProcessor,
  { maxRuns, delay, deadQueue, largeBodies, logger }: RunnerSettings,
): (message: QueueMessage, batch: RunnerBatch) => Promise<void> {
  const unsettled = new UnsettledMessages();

  const secondsAfter = (attempt: number) =>
    Math.min(MAX_DELAY_S, Math.ceil(delay(attempt) / 1_000));

  function retry(message: QueueMessage, known: Unsettled, delaySeconds: number): void {
    unsettled.set(message.id, known);
    message.retry({ delaySeconds });
  }

  function logFailure(
    { id, attempts }: QueueMessage,
    queue: string,
    what: string,
    error: unknown,
  ): void {
    const { text, err } = loggedError(error);
    safeLogger(logger).error(
      {
        queue,
        messageId: id,
        deliveries: attempts,
        err,
        docs: docsUrl('queues.md#cloudflare-queues'),
      },
      `call-webhooks: ${what}. It is tried again: ${text}`,
    );
  }

  /** Runs the job of a message. */
  async function run(
    { body, attempts }: QueueMessage,
    { notRun, abandonReason }: Unsettled,
    signal: AbortSignal,
  ): Promise<JobResult> {
    // deadLetter can't take it.
    if (!deadQueue && !isDelivery(body))
      throw new Error('It was not sent by cloudflareQueue, and there is no deadQueue for it.');
    const delivery = isLarge(body)
      ? await largeBodies.unpack(body)
      : (Object(body) as QueuedDelivery);
    if (!delivery) return { status: 'done' };
    const attempt = attempts - notRun;
    // Past maxRuns it is run all the same: its earlier deliveries may have ended before its job began.
    const isLastAttempt = attempt >= maxRuns;
    return process(delivery, { attempt, maxRuns, isLastAttempt, abandonReason, signal });
  }

  return async (message, { queue, late, signal }) => {
    const { id, body, attempts } = message;
    const known = unsettled.get(id);
    const { notRun } = known;
    if (late.aborted) {
      retry(message, { ...known, notRun: notRun + 1 }, 0);
      return;
    }

    let result: Pick<JobResult, 'status'> = { status: 'dead' };
    if (!known.isDead)
      try {
        const ran = await run(message, known, signal);
        if (ran.status === 'retry') {
          const reason = ran.abandonReason;
          const abandonReason = reason === undefined ? undefined : new Error(reason);
          retry(message, { notRun, abandonReason }, secondsAfter(attempts - notRun));
          return;
        }
        result = ran;
      } catch (error) {
        logFailure(message, queue, 'the job of a message could not begin', error);
        retry(message, { ...known, notRun: notRun + 1 }, secondsAfter(attempts));
        return;
      }

    if (result.status === 'dead' && deadQueue)
      try {
        await deadQueue.send(body, { contentType: isDelivery(body) ? 'json' : 'v8' });
      } catch (error) {
        logFailure(message, queue, 'a dead job could not be sent to deadQueue', error);
        retry(message, { notRun, isDead: true }, secondsAfter(attempts - notRun));
        return;
      }
    // Otherwise it is swept.
    else await largeBodies.drop(body).catch(() => undefined);
    unsettled.delete(id);
    message.ack();
  };
}

/** Whether a message has what `deadLetter` is given. */
function isDelivery(message: unknown): boolean {
  const { webhookId, body } = Object(message) as Partial<QueuedDelivery>;
  if (typeof webhookId !== 'string' || typeof body !== 'string') return false;
  try {
    atob(body);
    return true;
  } catch {
    return false;
  }
}
