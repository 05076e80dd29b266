import {
  WebhookError,
  type QueuedDelivery,
  type WorkerOptions,
  type ExtraEvents,
  type StandardSchema,
} from '@call-webhooks/core';
import {
  type BackoffOptions,
  checkOptions,
  type ContextWithoutCompleteIn,
  createJobProcessor,
  docsUrl,
  exponentialBackoff,
  type JobResult,
  loggedError,
  option,
  safeLogger,
  withoutOptions,
} from '@call-webhooks/core/stores';
import type { ObjectNamespace } from './namespace.ts';
import { largeBodiesIn, type QueueProducer } from './queue.ts';

/** What is used of a message of Cloudflare Queues. */
export interface QueueMessage {
  readonly id: string;
  readonly body: unknown;
  /** The number of the delivery to a consumer, counted from 1. */
  readonly attempts: number;
  ack(): void;
  retry(options?: { delaySeconds?: number }): void;
}

/** What is used of a batch of messages. */
export interface QueueBatch {
  readonly queue: string;
  readonly messages: readonly QueueMessage[];
}

/** The options of the worker: the handlers, as a receiver has them, and how jobs are run. */
export interface QueueConsumerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends WorkerOptions<Extra, Custom, ContextWithoutCompleteIn> {
  /**
   * The maximum number of runs of a job before it is dead: up to 100, by default 3. Set `max_retries`
   * of the queue to a higher number: beyond it, Cloudflare drops a message without notice.
   */
  maxRuns?: number | undefined;
  /**
   * The maximum number of jobs of a batch that run at the same time; 4 by default. If your handlers are
   * slow, set `max_batch_size` of the queue to the same number: a job that could not start within 7
   * minutes is returned to the queue.
   */
  concurrency?: number | undefined;
  /**
   * The time between two runs of a job, in milliseconds: up to 12 hours. It grows from `initialDelay`
   * (5,000 by default) to `maxDelay` (3,600,000 by default). Cloudflare rounds it to whole seconds.
   */
  backoff?: BackoffOptions | undefined;
  /** The binding of a queue that keeps the messages of dead jobs. */
  deadQueue?: QueueProducer | undefined;
  /** The binding of `CallWebhooksStore`, as for `cloudflareQueue`. */
  largeBodies: ObjectNamespace;
}

/** The `queue` of a Worker. */
export type QueueConsumer<Env> = (batch: QueueBatch, env: Env) => Promise<void>;

/** Jobs that have not begun by then go back to the queue, so that each handler has time. */
const BEGIN_WITHIN_MS = 420_000;
/** Handlers are aborted a minute before Cloudflare ends the consumer of a batch. */
const ABORT_AFTER_MS = 840_000;
/** Cloudflare's longest delay; seconds. */
const MAX_DELAY_S = 43_200;

const rules = () => ({
  maxRuns: option.default(option.count(1, 100), 3),
  concurrency: option.default(option.count(1, 100), 4),
  backoff: option.backoff(5_000, 3_600_000),
  deadQueue: option.optional(option.object<QueueProducer>('send')),
  largeBodies: option.optional(option.object<ObjectNamespace>()),
});

/**
 * Creates the `queue` handler of a Worker, which runs the deliveries that `cloudflareQueue` sent.
 *
 * Each message is acknowledged or retried on its own. After the last run, or at once if the payload is
 * invalid, the delivery goes to `deadLetter` and then to `deadQueue`. If one of them fails, it is
 * called again after the next delay, without the handler. Another instance of the Worker does not know
 * about the failure, and runs the handler once more.
 * @param options gives the options for a Worker's bindings; called with the first batch. It throws
 *   WebhookError `invalid-options`, also without `deadLetter` and `deadQueue`: Cloudflare would keep
 *   nothing of a dead job.
 * @example
 * export default {
 *   fetch: hook,
 *   queue: createQueueConsumer((env: Env) => ({
 *     deadQueue: env.DEAD_CALLS,
 *     largeBodies: env.CALL_WEBHOOKS,
 *     on: { 'call:completed': saveCall },
 *   })),
 * };
 */
export function createQueueConsumer<
  Env,
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: (env: Env) => QueueConsumerOptions<Extra, Custom>): QueueConsumer<Env> {
  let consume: ((batch: QueueBatch) => Promise<void>) | undefined;
  return async (batch, env) => {
    if (!Array.isArray((batch as Partial<QueueBatch> | undefined)?.messages))
      throw new WebhookError(
        'invalid-options',
        'This handler takes a batch of messages of Cloudflare Queues: export default { queue: createQueueConsumer(…) }.',
      );
    return (consume ??= consumer(options(env)))(batch);
  };
}

/** What is remembered of a message that was not acknowledged. */
interface Unsettled {
  /** How many of its deliveries ended before its job could run. */
  readonly notRun: number;
  /** Why it was given up, while `deadLetter` fails. */
  readonly abandonReason?: Error | undefined;
  /** Whether only `deadQueue` has failed. */
  readonly isDead?: boolean | undefined;
}

/** Messages come back to any instance of the Worker, so some are never asked for again. */
const MAX_UNSETTLED = 10_000;

function consumer<Extra extends ExtraEvents, Custom extends StandardSchema>(
  options: QueueConsumerOptions<Extra, Custom>,
): (batch: QueueBatch) => Promise<void> {
  const { maxRuns, concurrency, backoff, deadQueue, largeBodies } = options;
  const own = { maxRuns, concurrency, backoff, deadQueue, largeBodies };
  const handlers = withoutOptions(options, ...(Object.keys(own) as (keyof typeof own)[]));
  const settings = checkOptions('createQueueConsumer', rules(), own);
  if (!deadQueue && !handlers.deadLetter)
    throw new WebhookError(
      'invalid-options',
      'Invalid options of createQueueConsumer: pass deadLetter or deadQueue, because Cloudflare does not keep jobs that were given up.',
      { docs: 'queues.md#cloudflare-queues' },
    );
  const processJob = createJobProcessor<Extra, Custom, ContextWithoutCompleteIn>(handlers);
  const bodies = largeBodiesIn('createQueueConsumer', largeBodies);
  const delay = exponentialBackoff(settings.backoff);
  const secondsAfter = (attempt: number) =>
    Math.min(MAX_DELAY_S, Math.ceil(delay(attempt) / 1_000));
  /** By the id of a message. Cloudflare counts deliveries, whether their job ran or not. */
  const unsettled = new Map<string, Unsettled>();

  function retry(message: QueueMessage, known: Unsettled, delaySeconds: number): void {
    unsettled.delete(message.id);
    unsettled.set(message.id, known);
    const [oldest] = unsettled.keys();
    if (unsettled.size > MAX_UNSETTLED && oldest !== undefined) unsettled.delete(oldest);
    message.retry({ delaySeconds });
  }

  function logFailure(message: QueueMessage, queue: string, what: string, error: unknown): void {
    const { text, err } = loggedError(error, handlers.redact);
    const { id: messageId, attempts: deliveries } = message;
    const docs = docsUrl('queues.md#cloudflare-queues');
    safeLogger(handlers.logger ?? console).error(
      { queue, messageId, deliveries, err, docs },
      `call-webhooks: ${what} and will be tried again: ${text}`,
    );
  }

  async function run(
    { body, attempts }: QueueMessage,
    { notRun, abandonReason }: Unsettled,
    signal: AbortSignal,
  ): Promise<JobResult> {
    // deadLetter can't take it.
    if (!deadQueue && !isDelivery(body))
      throw new Error('It was not sent by cloudflareQueue, and there is no deadQueue for it.');
    const delivery = await bodies.unpack(body);
    if (!delivery) return { status: 'done' };
    const attempt = attempts - notRun;
    const { maxRuns } = settings;
    // Past maxRuns it is run all the same: its earlier deliveries may have ended before its job began.
    const isLastAttempt = attempt >= maxRuns;
    return processJob(delivery, { attempt, maxRuns, isLastAttempt, abandonReason, signal });
  }

  /** Runs the job of a message, and acknowledges or retries the message. Never rejects. */
  async function settle(
    message: QueueMessage,
    queue: string,
    late: AbortSignal,
    signal: AbortSignal,
  ): Promise<void> {
    const { id, body, attempts } = message;
    const known = unsettled.get(id) ?? { notRun: 0 };
    const { notRun } = known;
    if (late.aborted) {
      retry(message, { ...known, notRun: notRun + 1 }, 0);
      return;
    }

    let status: JobResult['status'] = 'dead';
    if (!known.isDead)
      try {
        const ran = await run(message, known, signal);
        if (ran.status === 'retry') {
          const reason = ran.abandonReason;
          const abandonReason = reason === undefined ? undefined : new Error(reason);
          retry(message, { notRun, abandonReason }, secondsAfter(attempts - notRun));
          return;
        }
        status = ran.status;
      } catch (error) {
        logFailure(message, queue, 'the job of a message could not be started', error);
        retry(message, { ...known, notRun: notRun + 1 }, secondsAfter(attempts));
        return;
      }

    if (status === 'dead' && deadQueue)
      try {
        await deadQueue.send(body, { contentType: isDelivery(body) ? 'json' : 'v8' });
      } catch (error) {
        logFailure(message, queue, 'a dead job could not be sent to deadQueue', error);
        retry(message, { notRun, isDead: true }, secondsAfter(attempts - notRun));
        return;
      }
    // Otherwise it is swept.
    else await bodies.drop(body).catch(() => undefined);
    unsettled.delete(id);
    message.ack();
  }

  return async ({ queue, messages }) => {
    const late = AbortSignal.timeout(BEGIN_WITHIN_MS);
    const signal = AbortSignal.timeout(ABORT_AFTER_MS);
    const waiting = messages.values();
    const runInTurn = async () => {
      for (const message of waiting) await settle(message, queue, late, signal);
    };
    await Promise.all(Array.from({ length: settings.concurrency }, runInTurn));
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
