import * as z from 'zod/mini';
import { fromBase64 } from '../store/keys.ts';
import { checkAgainst, option } from '../check-options.ts';
import { sinkFailure, toDeadLetter, type DeadLetter } from '../dead-letters/dead-letter.ts';
import { originsOf, WebhookError, withOrigin } from '../errors.ts';
import type { FieldNames } from '../events/call-details.ts';
import {
  DeliveryContext,
  LazySignal,
  rolledBack,
  Transactions,
  type Delivery,
  type HandlerContext,
} from '../events/context.ts';
import {
  handlerFailed,
  runHandler,
  type ExtraEvents,
  type HandlerOptions,
} from '../events/handlers.ts';
import { type Route, Routes } from '../events/route.ts';
import type { StandardSchema } from '../events/schema.ts';
import { checkEventNames, handlerShape } from '../options.ts';
import { type Outcome, type OutcomeCode, STATUS } from '../outcomes.ts';
import type { QueuedDelivery } from '../queue.ts';
import { CHANNELS, tracedDelivery } from '../report/channels.ts';
import { jobLine } from '../report/log-line.ts';
import { type Logger, safeLogger } from '../report/logger.ts';
import { OutcomeWriter } from '../store/outcome-writer.ts';
import {
  callReportingHooks,
  reportAfterCommit,
  withWarnings,
  type PendingOutcome,
} from '../report/reporter.ts';
import type { OutcomeLog } from '../store/outcome-log.ts';
import { Deadlines, RELEASE_MS } from '../time.ts';

/** What a queue's engine knows about one run of a job. */
export interface WorkerJob {
  /** 1 for the first run, which is the default. Runs that ended with their process count as well. */
  attempt?: number | undefined;
  /** How many runs the engine makes; the worker's option by default. */
  maxRuns?: number | undefined;
  /** Whether the engine gives up when this run fails; `attempt >= maxRuns` by default. */
  isLastAttempt?: boolean | undefined;
  /** If set, no handler is run: the job goes to `deadLetter` for this reason. */
  abandonReason?: Error | undefined;
  /** Aborted when the engine takes the job back. */
  signal?: AbortSignal | undefined;
  /** For `context.completeIn`: how the job is completed in a transaction of its handler. */
  transaction?: JobTransaction | undefined;
}

/** The outcomes of a worker. The others are about requests and leases. */
export type JobOutcome = Extract<
  OutcomeCode,
  'handled' | 'ignored' | 'handler-failed' | 'invalid-payload' | 'dead-lettered'
>;

/** What the engine has to do with a job after a run. */
export type JobResult =
  | { status: 'done' }
  /**
   * Run it again later. With `abandonReason` the attempts are used up and `deadLetter` failed: pass
   * the reason on to the next run, which then calls `deadLetter` only.
   */
  | { status: 'retry'; error: WebhookError; abandonReason?: string }
  /** Never run it again; `deadLetter` has it. */
  | { status: 'dead'; error: WebhookError };

/** The job of a run, in the database of its handlers. */
export interface JobTransaction {
  /**
   * Completes the job with a statement of the handler's transaction, for `context.completeIn`.
   * @returns `false` if the job was lost: another worker may run it
   */
  completeIn(tx: unknown): boolean | Promise<boolean>;
  /** Whether this run has completed the job. It waits for a commit that is under way. */
  isCompleted(): Promise<boolean>;
}

/** The handlers of a worker, as a receiver has them. */
export interface WorkerOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> extends HandlerOptions<Extra, Custom, Context> {
  fieldNames?: FieldNames | undefined;
  /** How often a job is run before it is handed to `deadLetter`; 100 by default. */
  maxRuns?: number | undefined;
  /** Gets a line for each failed attempt; `console` by default. */
  logger?: Logger | undefined;
  /** The log that outcomes are written to, such as the `log` of the receiver's store; none by default. */
  log?: OutcomeLog | undefined;
}

type Info = PendingOutcome & { webhookId: string };

/** One run of a job: what its engine has to do, the outcome for the hooks, and more for the log. */
interface Attempt {
  readonly result: JobResult;
  readonly outcome: Outcome;
  /** `undefined` if only the engine knows. */
  readonly maxRuns: number | undefined;
}

/** Runs one queued delivery. Never rejects. */
export type JobProcessor = (delivery: QueuedDelivery, job?: WorkerJob) => Promise<JobResult>;

/** What `createJobProcessor` returns. */
export interface ClosableJobProcessor extends JobProcessor {
  /**
   * Writes the rest of the outcome log, if there is one: for the worker's `close`, after the last job.
   * It ends within a second, and never rejects.
   */
  close(): Promise<void>;
}

/**
 * Creates the function that a queue's worker calls for each job: it finds the handler, runs it, and
 * calls `deadLetter` after the last attempt. The engine does retries and backoff.
 * @throws WebhookError `invalid-options`
 * @example
 * const process = createJobProcessor({ on: { 'call:completed': saveCall } });
 * const result = await process(job.delivery, { attempt: job.attempt });
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
  checkEventNames(settings);
  const { fieldNames, logger, deadLetter, redact } = settings;
  const routes = new Routes(settings);
  let inFlight = 0;
  const writer =
    settings.log &&
    new OutcomeWriter(settings.log, {
      ...{ logger, redact, deadlines: new Deadlines(), timeoutMs: RELEASE_MS },
      now: () => Date.now(),
      inFlight: () => inFlight,
    });

  const close = async () => writer?.close(RELEASE_MS);
  return Object.assign(processJob, { close });

  async function processJob(queued: QueuedDelivery, job: WorkerJob = {}): Promise<JobResult> {
    const channel = CHANNELS.delivery;
    const attempt = () => attemptJob(queued, job);
    const { result, outcome, maxRuns } =
      channel?.hasSubscribers === true
        ? await tracedDelivery(channel, { source: 'queue', queued }, attempt)
        : await attempt();
    if (result.status === 'done') return result;
    const failed = { outcome, isDead: result.status === 'dead', maxRuns };
    const { level, fields, message } = jobLine(failed, redact);
    safeLogger(logger)[level](fields, message);
    return result;
  }

  async function attemptJob(queued: QueuedDelivery, job: WorkerJob): Promise<Attempt> {
    const startedAt = performance.now();
    const { attempt = 1, maxRuns = attemptsOf(job, settings.maxRuns) } = job;
    const { isLastAttempt = attempt >= (maxRuns ?? Infinity) } = job;
    const { tenant, webhookId, receivedAt } = queued;
    const lagMs = Math.max(0, Date.now() - receivedAt);
    const info: Info = { source: 'queue', webhookId, attempt, lagMs, queued: true };
    if (tenant !== undefined) info.tenant = tenant;
    if (queued.eventName !== undefined) info.eventName = queued.eventName;
    if (queued.key !== undefined) info.key = queued.key;
    inFlight += 1;
    const { result, code } = await runJob(queued, { ...job, attempt, isLastAttempt }, info);
    inFlight -= 1;
    if (result.status === 'dead' || (result.status === 'retry' && isLastAttempt))
      info.attemptsLeft = 0;
    else if (result.status === 'retry' && maxRuns !== undefined)
      info.attemptsLeft = Math.max(0, maxRuns - attempt);
    const outcome: Outcome = {
      outcome: code,
      status: STATUS[code],
      durationMs: performance.now() - startedAt,
      ...info,
    };
    if (result.status !== 'done') outcome.error = result.error;
    writer?.add(outcome);
    callReportingHooks(settings, outcome);
    return { result, outcome, maxRuns };
  }

  async function runJob(
    queued: QueuedDelivery,
    job: WorkerJob & { attempt: number; isLastAttempt: boolean },
    info: Info,
  ): Promise<{ result: JobResult; code: JobOutcome }> {
    const { attempt, isLastAttempt, abandonReason, signal, transaction } = job;
    let delivery: Delivery | undefined;
    let route: Route | undefined;
    try {
      const found = (delivery = deliveryOf(queued, logger));
      const to = (route = withQueuedKey(await routes.find(found.rawBody, found.tenant), queued));
      const { eventName, callId, key } = route;
      if (eventName !== undefined) info.eventName = eventName;
      if (callId !== undefined) info.callId = callId;
      if (key !== undefined) info.key = key;
      if (abandonReason) throw abandonReason;
      const transactions = new Transactions(transaction);
      const taken = new LazySignal();
      const context = new DeliveryContext(found, to, attempt, fieldNames, taken, transactions);
      const run = () => runWithSignal(to, context, taken, signal, info);
      const report = (kind: 'failed-after-commit' | 'late-transaction') => (error: unknown) => {
        const failed = { error, kind, route: to, delivery: found, attempt, late: false };
        reportAfterCommit(failed, settings);
      };
      await runInTransaction(transactions, transaction, run, report('failed-after-commit'));
      transactions.onLateCall(report('late-transaction'));
      return { result: { status: 'done' }, code: route.outcome };
    } catch (thrown) {
      const error =
        abandonReason && thrown === abandonReason
          ? abandoned(abandonReason)
          : failureOf(thrown, route);
      const isInvalid = error.code === 'invalid-payload';
      const code = isInvalid ? 'invalid-payload' : 'handler-failed';
      if ((!isInvalid && !isLastAttempt && !abandonReason) || thrown instanceof UnsettledRun)
        return { result: { status: 'retry', error }, code };
      if (!delivery) return { result: { status: 'dead', error }, code: 'dead-lettered' };
      const failure = { attempt, error: thrown, at: Date.now(), route };
      const sinkError = await sendToDeadLetter(toDeadLetter(code, delivery, failure), error);
      if (!sinkError) return { result: { status: 'dead', error }, code: 'dead-lettered' };
      const reason = abandonReason?.message ?? error.message;
      return { result: { status: 'retry', error: sinkError, abandonReason: reason }, code };
    }
  }

  async function sendToDeadLetter(
    letter: DeadLetter,
    failure: WebhookError,
  ): Promise<WebhookError | undefined> {
    try {
      await deadLetter?.(letter);
      return undefined;
    } catch (error) {
      const { text, origin } = sinkFailure(error, letter.rawBody, fieldNames);
      const both = `${failure.message.replace(/\.$/, '')}. The deadLetter sink failed: ${text}`;
      const failed = new WebhookError('handler-failed', both);
      return withOrigin(storable(failed), ...originsOf(failure), origin);
    }
  }
}

/** An engine that decides about the last attempt has a limit of its own. */
const attemptsOf = ({ isLastAttempt }: WorkerJob, maxRuns: number): number | undefined =>
  isLastAttempt === undefined ? maxRuns : undefined;

async function runWithSignal(
  route: Route,
  context: HandlerContext,
  taken: LazySignal,
  signal: AbortSignal | undefined,
  info: Info,
): Promise<void> {
  const abort = () => {
    taken.abort(new WebhookError('shutting-down', 'The queue took the job back.'));
  };
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort, { once: true });
  const startedAt = performance.now();
  try {
    await runHandler(route, context);
  } finally {
    if (route.handle) info.handlerMs = performance.now() - startedAt;
    signal?.removeEventListener('abort', abort);
  }
}

/** With the profile `'standard-webhooks'`, only the receiver can tell the key of some events. */
const withQueuedKey = (route: Route, { key }: QueuedDelivery): Route =>
  route.key === undefined && key !== undefined ? { ...route, key } : route;

/** The reason is the message of an earlier failure, or comes from the engine. */
function abandoned(error: Error): WebhookError {
  const failure = storable(new WebhookError('handler-failed', error.message));
  return withOrigin(failure, { source: 'handler', error });
}

function failureOf(error: unknown, route: Route | undefined): WebhookError {
  if (error instanceof WebhookError && !route) return error;
  return storable(handlerFailed(error, route?.sensitiveData));
}

/** Engines keep the message, and databases refuse half of a surrogate pair. */
function storable(error: WebhookError): WebhookError {
  error.message = error.message.replace(/\p{Surrogate}/gu, '\ufffd');
  return error;
}

function deliveryOf(queued: QueuedDelivery, log: Logger): Delivery {
  const { tenant, webhookId, timestamp, receivedAt, body } = queued;
  try {
    return {
      ...{ source: 'queue', tenant, webhookId, timestamp, receivedAt, log },
      replayUntil: receivedAt,
      rawBody: fromBase64(body),
    };
  } catch {
    throw new WebhookError('invalid-payload', 'The queued delivery has no base64 body.');
  }
}

/** This run does not know whether the job is completed, or lost it. Only its engine can decide. */
export class UnsettledRun extends Error {
  override readonly name = 'UnsettledRun';
}

/**
 * Runs a handler that may call `completeIn`. Only the engine knows whether its transaction was
 * committed: a handler may ignore a rollback, or fail after the commit.
 * @param onLateFailure called with what the handler threw although the job is completed
 * @throws what the handler threw, if the job is not completed; `UnsettledRun`
 */
export async function runInTransaction(
  transactions: Transactions,
  transaction: JobTransaction | undefined,
  run: () => Promise<void>,
  onLateFailure: (error: unknown) => void,
): Promise<void> {
  let failure: { error: unknown } | undefined;
  try {
    await run();
  } catch (error) {
    failure = { error };
  }
  transactions.end();
  if (transaction && transactions.mayBeDone && (await isCompleted(transaction))) {
    if (failure) onLateFailure(failure.error);
    return;
  }
  if (transactions.leaseLost)
    throw new UnsettledRun('The job was lost while its handler ran: it may run elsewhere.');
  if (failure) throw failure.error;
  if (transactions.called) throw rolledBack();
}

async function isCompleted(transaction: JobTransaction): Promise<boolean> {
  try {
    return await transaction.isCompleted();
  } catch (cause) {
    throw new UnsettledRun(
      'The queue could not be asked whether the transaction of completeIn was committed.',
      { cause },
    );
  }
}
