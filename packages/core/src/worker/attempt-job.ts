import { fromBase64 } from '../base64.ts';
import { CHANNELS, type DeliveryMessage } from '../channels/channels.ts';
import { reportOfDone, type OfDone } from '../dispatch/after-transaction.ts';
import { DeliveryContext } from '../dispatch/context.ts';
import type { Delivery } from '../dispatch/delivery.ts';
import type { CheckedHandlerOptions } from '../dispatch/handlers.ts';
import { sinkFailure } from '../dispatch/job.ts';
import { ofTenant, Routes, type Route } from '../dispatch/routes.ts';
import { handlerFailed, runHandler } from '../dispatch/run-handler.ts';
import { toDeadLetter } from '../dispatch/to-dead-letter.ts';
import type { FieldNames } from '../events/call-details.ts';
import { originsOf, withOrigin } from '../outcome/origin.ts';
import { STATUS } from '../outcome/outcomes.ts';
import type { Outcome } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { QueuedDelivery } from '../queue.ts';
import { callReportingHooks } from '../reporting/hooks.ts';
import type { Logger } from '../reporting/logger.ts';
import type { DeliveryInfo } from '../reporting/reporter.ts';
import { tracedDelivery } from '../reporting/traced-delivery.ts';
import type { DeadLetter } from '../store/dead-letter.ts';
import { runInTransaction, UnsettledRun } from './job-transaction.ts';
import type { JobOutcome, JobResult, WorkerJob } from './worker-job.ts';

type Info = DeliveryInfo & { webhookId: string };

/** The checked options of a worker. */
export interface HandlerSettings extends CheckedHandlerOptions {
  readonly fieldNames: FieldNames;
  readonly maxAttempts: number;
  readonly logger: Logger;
}

/** One run of a job: what its engine has to do, the outcome for the hooks, and more for the log. */
export interface Attempt {
  readonly result: JobResult;
  readonly outcome: Outcome;
  /** `undefined` if only the engine knows. */
  readonly maxAttempts: number | undefined;
}

/** Creates the function that runs a queued delivery once and calls the hooks. It never rejects. */
export function createAttempt(
  settings: HandlerSettings,
): (delivery: QueuedDelivery, job?: WorkerJob) => Promise<Attempt> {
  const { fieldNames, logger, deadLetter } = settings;
  const routes = new Routes(settings);

  return async (queued, job = {}) => {
    const channel = CHANNELS.delivery;
    if (channel?.hasSubscribers !== true) return attemptJob(queued, job);
    const message: DeliveryMessage = { source: 'queue', queued };
    return tracedDelivery(channel, message, () => attemptJob(queued, job));
  };

  async function attemptJob(queued: QueuedDelivery, job: WorkerJob): Promise<Attempt> {
    const startedAt = performance.now();
    const { attempt = 1, maxAttempts = attemptsOf(job, settings.maxAttempts) } = job;
    const { isLastAttempt = attempt >= (maxAttempts ?? Infinity) } = job;
    const { tenant, webhookId, receivedAt } = queued;
    const lagMs = Math.max(0, Date.now() - receivedAt);
    const info: Info = { source: 'queue', webhookId, attempt, lagMs, queued: true };
    if (tenant !== undefined) info.tenant = tenant;
    if (queued.eventName !== undefined) info.eventName = queued.eventName;
    if (queued.key !== undefined) info.key = queued.key;
    const { result, code } = await runJob(queued, { ...job, attempt, isLastAttempt }, info);
    if (result.status === 'dead' || (result.status === 'retry' && isLastAttempt))
      info.attemptsLeft = 0;
    else if (result.status === 'retry' && maxAttempts !== undefined)
      info.attemptsLeft = Math.max(0, maxAttempts - attempt);
    const outcome: Outcome = {
      outcome: code,
      status: STATUS[code],
      durationMs: performance.now() - startedAt,
      ...info,
    };
    if (result.status !== 'done') outcome.error = result.error;
    callReportingHooks(settings, outcome);
    return { result, outcome, maxAttempts };
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
      const own = ofTenant(await routes.find(found.rawBody), found.tenant);
      const to = (route = withQueuedKey(own, queued));
      const { eventName, callId, key } = route;
      if (eventName !== undefined) info.eventName = eventName;
      if (callId !== undefined) info.callId = callId;
      if (key !== undefined) info.key = key;
      if (abandonReason) throw abandonReason;
      const context = new DeliveryContext(delivery, route, attempt, fieldNames);
      const run = () => runWithSignal(to, context, signal, info);
      const report = (kind: OfDone['kind']) => (error: unknown) => {
        const failure = { error, kind, route: to, delivery: found, attempt, late: false };
        reportOfDone(failure, settings);
      };
      await runInTransaction(context, transaction, run, report('failed-after-commit'));
      context.reportLateCalls(report('late-transaction'));
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
      const { text, origin } = sinkFailure(error, letter.rawBody);
      const both = `${failure.message.replace(/\.$/, '')}. The deadLetter sink failed: ${text}`;
      const failed = new WebhookError('handler-failed', both);
      return withOrigin(storable(failed), ...originsOf(failure), origin);
    }
  }
}

/** An engine that decides about the last attempt has a limit of its own. */
const attemptsOf = ({ isLastAttempt }: WorkerJob, maxAttempts: number): number | undefined =>
  isLastAttempt === undefined ? maxAttempts : undefined;

async function runWithSignal(
  route: Route,
  context: DeliveryContext,
  signal: AbortSignal | undefined,
  info: Info,
): Promise<void> {
  const abort = () => {
    context.abort(new WebhookError('shutting-down', 'The queue took the job back.'));
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
      ...{ source: 'queue', webhookId, timestamp, receivedAt, rawBody: fromBase64(body), log },
      ...(tenant !== undefined && { tenant }),
    };
  } catch {
    throw new WebhookError('invalid-payload', 'The queued delivery has no base64 body.');
  }
}
