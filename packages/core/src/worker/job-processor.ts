import * as z from 'zod/mini';
import { fromBase64 } from '#platform';
import { checkAgainst, option } from '../check-options.ts';
import { toDeadLetter, type DeadLetter } from '../dead-letters/dead-letter.ts';
import { handOver } from '../dead-letters/hand-over.ts';
import { startRetention } from '../dead-letters/retention.ts';
import { defined } from '../defined.ts';
import type { Delivery, HandlerContext, Route } from '../delivery.ts';
import { type DeliveryContent, WebhookError, withOrigin } from '../errors.ts';
import { LazySignal } from '../events/context.ts';
import { handlerFailed, type ExtraEvents } from '../events/handlers.ts';
import { Routes } from '../events/route.ts';
import type { StandardSchema } from '../events/schema.ts';
import { runAndSettle } from '../run-handler.ts';
import { type HandlerOptions, handlerShape } from '../options.ts';
import type { OutcomeCode } from '../outcome-table.ts';
import type { Outcome, PendingOutcome } from '../outcomes.ts';
import type { QueuedDelivery } from '../queue.ts';
import { tracedDelivery } from '../report/channels.ts';
import type { Logger } from '../report/logger.ts';
import { Reporter, withWarnings } from '../report/reporter.ts';
import { storableText } from '../store/keys.ts';
import type { OutcomeLog } from '../store/outcome-log.ts';
import { OutcomeWriter } from '../store/outcome-writer.ts';
import { Deadlines, RELEASE_MS } from '../time.ts';

/** What a queue's engine knows about one run of a job. */
export interface WorkerJob {
  /**
   * The number of the run, counted from 1; 1 by default. Runs that ended because their process died
   * also count.
   */
  attempt?: number | undefined;
  /**
   * The maximum number of runs that the engine makes of this job; `maxRuns` of the worker by default.
   */
  maxRuns?: number | undefined;
  /** Whether the engine gives up if this run fails; `attempt >= maxRuns` by default. */
  isLastAttempt?: boolean | undefined;
  /** If this is set, the handler does not run, and the job goes to `deadLetter` for this reason. */
  abandonReason?: Error | undefined;
  /** Aborts `context.signal` of the handler. The engine aborts it when it reclaims the job. */
  signal?: AbortSignal | undefined;
  /**
   * How `context.completeIn` completes the job in a transaction of its handler. It is absent if the
   * queue is not in a database.
   */
  transaction?: JobTransaction | undefined;
}

/** The outcomes that a queue worker can have. The others are about requests and leases. */
export type JobOutcome = Extract<
  OutcomeCode,
  'handled' | 'ignored' | 'handler-failed' | 'invalid-payload' | 'dead-lettered'
>;

/**
 * What the engine has to do with a job after a run: nothing more (`done`), run it again later
 * (`retry`), or never run it again (`dead`).
 */
export type JobResult =
  | { status: 'done' }
  /**
   * Run it again later. With `abandonReason`, no attempts are left and `deadLetter` failed: pass the
   * reason on to the next run, which then only calls `deadLetter`.
   */
  | { status: 'retry'; error: WebhookError; abandonReason?: string }
  /** Never run it again: it is stored in `deadLetter`. */
  | { status: 'dead'; error: WebhookError };

/** How a job is completed in a transaction of its handler. */
export interface JobTransaction {
  /**
   * Completes the job with a statement of the handler's transaction, for `context.completeIn`.
   * @returns `false` if the job was lost: another worker may run it
   */
  completeIn(tx: unknown): boolean | Promise<boolean>;
  /**
   * Resolves with whether this run has completed the job. It waits for a commit that is in progress.
   */
  isCompleted(): Promise<boolean>;
}

/** The options of a queue worker: the handlers, as a receiver has them, and the number of runs. */
export interface WorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> extends HandlerOptions<Extra, Custom, Context> {
  /**
   * The maximum number of runs of a job before it goes to `deadLetter`, or is dead: 1 to 1,000,000, by
   * default 100.
   */
  maxRuns?: number | undefined;
  /**
   * The outcome log to which outcomes are written, such as `log` of the receiver's store. The console
   * and `status` read it. There is none by default.
   */
  log?: OutcomeLog | undefined;
}

/** Runs one queued delivery. The promise never rejects. */
export type JobProcessor = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<JobResult>;

/** The job processor that `createJobProcessor` returns. */
export interface ClosableJobProcessor extends JobProcessor {
  /**
   * Writes the rest of the outcome log, if there is one, and stops the removal of expired dead letters.
   * Call it in `close` of your worker, after the last job. It ends within a second, and never rejects.
   */
  close(): Promise<void>;
}

/**
 * Creates the function that a queue worker calls for each job. It finds the handler, runs it, and calls
 * `deadLetter` after the last attempt. The engine of the queue is responsible for retries and backoff.
 * @throws WebhookError `invalid-options`
 * @example
 * const processJob = createJobProcessor({ on: { 'call:completed': saveCall } });
 * const result = await processJob(job.delivery, { attempt: job.attempt });
 * if (result.status === 'retry') await engine.retryLater(job);
 */
export function createJobProcessor<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
>(options: WorkerOptions<Extra, Custom, Context>): ClosableJobProcessor {
  const shape = {
    ...handlerShape(),
    maxRuns: option.default(option.count(1, 1_000_000), 100),
    log: option.optional(option.object<OutcomeLog>('append')),
  };
  const checked = checkAgainst(z.strictObject(shape), options);
  const settings = { ...checked, ...withWarnings(checked, checked.logger) };
  const { logger, deadLetter, redact, log, version } = settings;
  const routes = new Routes(settings);
  let inFlight = 0;
  const writer =
    log &&
    new OutcomeWriter(log, {
      logger,
      redact,
      deadlines: new Deadlines(),
      timeoutMs: RELEASE_MS,
      now: () => Date.now(),
      describe: () => ({ inFlight, ...defined({ version }) }),
    });
  const reporter = new Reporter(settings, writer);

  const retention = startRetention({ 'dead letters': options.deadLetter }, { logger, redact });

  const close = async () => {
    await Promise.all([retention?.close(), writer?.close(RELEASE_MS)]);
  };
  return Object.assign(processJob, { close });

  async function processJob(queued: QueuedDelivery, job: WorkerJob = {}): Promise<JobResult> {
    const message = () => ({ source: 'queue', queued }) as const;
    return (await tracedDelivery(message, () => runJob(queued, job))).result;
  }

  async function runJob(
    queued: QueuedDelivery,
    job: WorkerJob,
  ): Promise<{ result: JobResult; outcome: Outcome }> {
    const startedAt = performance.now();
    const { attempt = 1, abandonReason } = job;
    // An engine that decides about the last attempt has a limit of its own.
    const { maxRuns = job.isLastAttempt === undefined ? settings.maxRuns : undefined } = job;
    const { isLastAttempt = attempt >= (maxRuns ?? Infinity) } = job;
    const { tenant, webhookId, eventName, callId, key } = queued;
    const pending: PendingOutcome = {
      source: 'queue',
      webhookId,
      attempt,
      lagMs: Math.max(0, Date.now() - queued.receivedAt),
      queued: true,
      ...defined({ tenant, eventName, callId, key }),
    };
    let delivery: Delivery | undefined;
    let route: Route | undefined;
    let code: JobOutcome;
    let result: JobResult = { status: 'done' };
    inFlight += 1;
    try {
      delivery = deliveryOf(queued, logger);
      route = identified(await routes.find(delivery.rawBody, tenant), queued);
      const { eventName, callId, key } = route;
      Object.assign(pending, defined({ eventName, callId, key }));
      if (route.invalid) throw route.invalid;
      if (abandonReason) throw abandonReason;
      await handle(route, delivery, attempt, job, pending);
      code = route.outcome;
    } catch (thrown) {
      const error = failureOf(thrown, route, abandonReason);
      code = error.code === 'invalid-payload' ? 'invalid-payload' : 'handler-failed';
      const isFinal = code === 'invalid-payload' || isLastAttempt || abandonReason !== undefined;
      if (!isFinal || thrown instanceof UnsettledRun) result = { status: 'retry', error };
      else {
        const failure = { attempt, error: thrown, at: Date.now() };
        const letter = delivery && route && toDeadLetter(delivery, { ...failure, route });
        result = await deadLetterOrRetry(letter, error, route?.sensitiveData, abandonReason);
      }
      if (result.status === 'dead') code = 'dead-lettered';
      if (result.status === 'dead' || isLastAttempt) pending.attemptsLeft = 0;
      else if (maxRuns !== undefined) pending.attemptsLeft = Math.max(0, maxRuns - attempt);
    }
    inFlight -= 1;
    const error = result.status === 'done' ? undefined : result.error;
    const end = { outcome: code, error };
    return { result, outcome: reporter.report(startedAt, pending, end, logger, false, maxRuns) };
  }

  /** @throws what the handler threw, if the job is not completed; `UnsettledRun` */
  async function handle(
    route: Route,
    delivery: Delivery,
    attempt: number,
    { signal, transaction }: WorkerJob,
    pending: PendingOutcome,
  ): Promise<void> {
    const taken = new LazySignal();
    const abort = () => {
      taken.abort(new WebhookError('shutting-down', 'The queue reclaimed the job.'));
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
    const run = { delivery, route, attempt, abort: taken, target: transaction, pending };
    const { failure, reportLateCalls } = await runAndSettle(
      {
        ...run,
        settle: async (transactions) => {
          signal?.removeEventListener('abort', abort);
          if (transaction && transactions.mayBeDone && (await isCompleted(transaction)))
            return true;
          if (!transactions.leaseLost) return false;
          throw new UnsettledRun(
            'The job was lost while its handler ran, so another worker may run it.',
          );
        },
        isLate: () => false,
      },
      settings,
    ).finally(() => signal?.removeEventListener('abort', abort));
    if (failure) throw failure.error;
    reportLateCalls();
  }

  /** @param letter absent if the job has no delivery */
  async function deadLetterOrRetry(
    letter: DeadLetter | undefined,
    failed: WebhookError,
    content: DeliveryContent | undefined,
    abandonReason: Error | undefined,
  ): Promise<JobResult> {
    const { message } = abandonReason ?? failed;
    if (!letter || !deadLetter || (await handOver(deadLetter, letter, failed, content)))
      return { status: 'dead', error: failed };
    return { status: 'retry', error: storable(failed), abandonReason: message };
  }
}

/**
 * Keeps what the receiver knew about the event. This worker may be unable to find it out: it may have
 * other options, or be unable to read the payload.
 */
const identified = (route: Route, { eventName, callId, key }: QueuedDelivery): Route => ({
  ...route,
  eventName: route.eventName ?? eventName,
  callId: route.callId ?? callId,
  key: route.key ?? key,
});

/** @param abandonReason the message of an earlier failure, or the engine's reason */
function failureOf(
  error: unknown,
  route: Route | undefined,
  abandonReason: Error | undefined,
): WebhookError {
  if (abandonReason && error === abandonReason) {
    const failure = storable(new WebhookError('handler-failed', abandonReason.message));
    return withOrigin(failure, { source: 'handler', error });
  }
  if (error instanceof WebhookError && (!route || error === route.invalid)) return storable(error);
  return storable(handlerFailed(error, route?.sensitiveData));
}

/** Engines keep the message. */
function storable(error: WebhookError): WebhookError {
  error.message = storableText(error.message);
  return error;
}

function deliveryOf(queued: QueuedDelivery, log: Logger): Delivery {
  const { tenant, webhookId, timestamp, receivedAt, body } = queued;
  try {
    return {
      source: 'queue',
      tenant,
      webhookId,
      timestamp,
      receivedAt,
      log,
      replayUntil: receivedAt,
      rawBody: fromBase64(body),
    };
  } catch {
    throw new WebhookError('invalid-payload', 'The queued delivery has no base64 body.');
  }
}

/** This run does not know whether the job is completed, or lost it. Only its engine can decide. */
class UnsettledRun extends Error {
  override readonly name = 'UnsettledRun';
}

async function isCompleted(transaction: JobTransaction): Promise<boolean> {
  try {
    return await transaction.isCompleted();
  } catch (cause) {
    throw new UnsettledRun(
      'The queue did not say whether the transaction of completeIn was committed.',
      { cause },
    );
  }
}
