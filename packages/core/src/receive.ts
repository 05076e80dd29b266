import type { Delivery } from './delivery.ts';
import { WebhookError } from './errors.ts';
import {
  checkBody,
  checkRequest,
  truncated,
  unreadable,
  type BodyReader,
  type HeadersLike,
} from './http/request.ts';
import {
  responseFor,
  type PendingOutcome,
  type ReceiverResponse,
  type Result,
} from './outcomes.ts';
import { tracedDelivery } from './report/channels.ts';
import type { Logger } from './report/logger.ts';
import { failureResult } from './report/reporter.ts';
import { EventRun, type ReceiverParts } from './run-event.ts';
import { earlierAttemptsOf, sourceOf } from './sender.ts';
import { authenticate } from './signature/verify.ts';

/** One HTTP request, as an adapter passes it to `receiver.receive`. */
export interface ReceiverRequest {
  /** The HTTP method; `POST` if it is absent. */
  method?: string | undefined;
  /** The request headers. */
  headers: HeadersLike;
  /** The URL as it was sent, with or without its origin. Only the option `tenant` uses it. */
  url?: string | undefined;
  /** The raw bytes of the body, or a function that reads them. */
  body: Uint8Array | BodyReader;
  /** The logger of this request; the logger of the receiver by default. */
  log?: Logger | undefined;
  /** Keeps a serverless function alive while a handler runs beyond its deadline. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Handles a delivery from the network, from request to response. Never rejects, whatever it is given. */
export async function receive(
  request: ReceiverRequest,
  parts: ReceiverParts,
): Promise<ReceiverResponse> {
  const startedAt = performance.now();
  try {
    checkIsRequest(request);
    const message = () => {
      const { method = 'POST', headers } = request;
      return { source: 'webhook', method, headers } as const;
    };
    return await tracedDelivery(message, () => respond(request, parts));
  } catch (error) {
    // A request that can't be read: it is not an object, or its getters throw.
    const { reporter, settings } = parts;
    const result = failureResult(error);
    return responseFor(reporter.report(startedAt, { source: 'webhook' }, result, settings.logger));
  }
}

/** @throws TypeError */
function checkIsRequest(request: unknown): void {
  const { headers } = Object(request) as { headers?: unknown };
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('receive() takes { method, headers, body }, with the raw bytes as body.');
}

async function respond(request: ReceiverRequest, parts: ReceiverParts): Promise<ReceiverResponse> {
  const startedAt = performance.now();
  const { settings, deadlines, reporter } = parts;
  const log = request.log ?? settings.logger; // unchanged: a handler may use more of it than we do
  const pending: PendingOutcome = { source: 'webhook' };
  let rawBody: Uint8Array | undefined;
  let result: Result;
  try {
    const { tenant, keySource } = parts.keysFor(request);
    if (tenant !== undefined) pending.tenant = tenant;
    checkRequest(request, settings.bodyLimit);
    try {
      const { body } = request;
      const read = typeof body === 'function' ? await body(settings) : body;
      rawBody = checkBody(read, settings.bodyLimit);
    } catch (error) {
      throw unreadable(error);
    }
    const receivedAt = settings.now();
    const verified = await authenticate(request.headers, rawBody, receivedAt, settings, keySource);
    const { webhookId, timestamp, secretId } = verified;
    // Fails closed, whatever else goes wrong: nothing goes on without a verified id and its secret.
    if (!webhookId || !secretId)
      throw new WebhookError('signature-mismatch', 'The delivery was not verified.');
    pending.source = sourceOf(webhookId);
    pending.webhookId = webhookId;
    pending.secretId = secretId;
    pending.lagMs = Math.max(0, receivedAt - timestamp * 1000);

    const delivery: Delivery = {
      ...{ source: 'webhook', tenant, ...verified, receivedAt, rawBody, log },
      earlierAttempts: earlierAttemptsOf(webhookId),
    };
    const run = new EventRun(delivery, pending, startedAt, parts);
    const done = run.run();
    const inTime = new Promise<Result>((resolve, reject) => {
      run.onAbandoned = reject;
      void done.then(resolve);
    });
    try {
      result = await deadlines.withTimeout(settings.ackWithin, inTime, startedAt);
    } catch {
      // A run never rejects: the time is over, or the receiver has closed.
      const late = done.then((end) => reporter.report(startedAt, pending, end, log, true));
      // An abandoned run has lost its lease: nobody has to wait for it.
      if (!run.isAbandoned) keepAlive(late, pending, request, log, parts);
      result = leaveRunning(run, settings.ackWithin);
    }
  } catch (error) {
    result = failureResult(error);
    if (result.outcome === 'signature-mismatch' && rawBody) {
      const cause = truncated(request.headers, rawBody);
      if (cause) result = failureResult(cause);
    }
  }
  return responseFor(reporter.report(startedAt, pending, result, log));
}

/** The result of a run that goes on after its response. */
function leaveRunning(run: EventRun, ackWithin: number): Result {
  if (run.isAbandoned) {
    const error = new WebhookError(
      'shutting-down',
      'The receiver closed before the handler had finished. The lease was released, so the next retry will run the event again.',
    );
    return { outcome: 'shutting-down', error };
  }
  const error = new WebhookError(
    'deadline',
    `The handler took longer than ackWithin (${String(ackWithin)} ms). It keeps running.`,
  );
  run.goOnLate(error);
  return { outcome: 'deadline', error };
}

/** @param late the result of a run that goes on, once it is reported */
function keepAlive(
  late: Promise<unknown>,
  pending: PendingOutcome,
  request: ReceiverRequest,
  log: Logger,
  { settings, reporter }: ReceiverParts,
): void {
  const waiter = request.waitUntil ? request : settings;
  if (waiter.waitUntil) reporter.keepAlive(late, (work) => waiter.waitUntil?.(work), pending, log);
}
