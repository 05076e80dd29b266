import type { Delivery } from './delivery.ts';
import { docsUrl, WebhookError } from './errors.ts';
import { checkRequest, type HeadersLike, RequestView, truncated } from './http/request.ts';
import { type BodyReader, checkBody, readFailure } from './http/web-body.ts';
import type { Settings } from './options.ts';
import { type ReceiverResponse, responseFor } from './outcomes.ts';
import type { ReceiverParts } from './receiver.ts';
import { CHANNELS, type DeliveryMessage, tracedDelivery } from './report/channels.ts';
import { deliveryFields, loggedError } from './report/log-line.ts';
import { callHook, type Logger, safeLogger } from './report/logger.ts';
import { callErrorHook, type DeliveryInfo, failureResult, type Result } from './report/reporter.ts';
import { DeliveryProcessor } from './run-event.ts';
import type { KeySource } from './signature/secrets.ts';
import { authenticate } from './signature/verify.ts';

/** One HTTP request, as an adapter passes it on. */
export interface ReceiverRequest {
  /** POST when absent. */
  method?: string | undefined;
  headers: HeadersLike;
  /** The URL as it was sent, with or without its origin: for the option `tenant`. */
  url?: string | undefined;
  /** The raw bytes, or a function that reads them. */
  body: Uint8Array | BodyReader;
  /** The logger of this request; the receiver's by default. */
  log?: Logger | undefined;
  /** Keeps a serverless function alive for a handler that runs beyond its deadline. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Handles a delivery from the network, from request to response. */
export function createReceive({
  settings,
  scheduler,
  keys,
  tenants,
  limiter,
  reporter,
  deps,
}: ReceiverParts): (request: ReceiverRequest) => Promise<ReceiverResponse> {
  const { now, ackWithin, logger } = settings;
  const { names, profile, toleranceSeconds } = settings;
  const rulesWith = (source: KeySource) => ({ names, profile, toleranceSeconds, keys: source });
  const rules = rulesWith(keys);

  async function respond(request: ReceiverRequest): Promise<ReceiverResponse> {
    const startedAt = performance.now();
    const info: DeliveryInfo = { source: 'webhook' };
    const named = tenants?.nameOf(new RequestView(request.url ?? '/', request.headers));
    const tenant = named?.name;
    if (tenant !== undefined) info.tenant = tenant;
    let result: Result;
    let rawBody: Uint8Array | undefined;
    try {
      checkRequest(request, settings.bodyLimit);
      let read: unknown = request.body;
      try {
        if (typeof request.body === 'function') read = await request.body(settings);
      } catch (error) {
        throw readFailure(error);
      }
      rawBody = checkBody(read, settings);
      const receivedAt = now();
      const ownKeys = named && tenants?.keys.of(named);
      const ownRules = ownKeys ? rulesWith(ownKeys) : rules;
      const authentic = await authenticate(request.headers, rawBody, receivedAt, ownRules);
      ownKeys?.verified();
      const { webhookId, timestamp, replayUntil, secretId } = authentic;
      // Fails closed, whatever else goes wrong: nothing goes on without a verified id and its secret.
      if (!webhookId || !secretId)
        throw new WebhookError('signature-mismatch', 'The delivery was not verified.');
      info.webhookId = webhookId;
      info.secretId = secretId;
      info.lagMs = Math.max(0, receivedAt - timestamp * 1000);

      limiter.check(tenant);
      const verified: Delivery = {
        source: 'webhook',
        webhookId,
        timestamp,
        receivedAt,
        secretId,
        rawBody,
        log: request.log ?? logger, // unchanged: a handler may use more of it than we do
      };
      const delivery = tenant === undefined ? verified : { ...verified, tenant };
      const processor = new DeliveryProcessor(delivery, replayUntil, info, deps);
      processor.start(startedAt);
      result = processor.result ?? (await resultInTime(processor, info, request, startedAt));
    } catch (error) {
      const isMismatch = error instanceof WebhookError && error.code === 'signature-mismatch';
      const cause = isMismatch && rawBody ? truncated(request.headers, rawBody) : undefined;
      result = failureResult(cause ?? error);
    }
    return responseFor(reporter.report(startedAt, info, result, request.log ?? logger));
  }

  /** The result, or `deadline`. Processing then continues, and its result is reported as late. */
  function resultInTime(
    processor: DeliveryProcessor,
    info: DeliveryInfo,
    request: ReceiverRequest,
    startedAt: number,
  ): Promise<Result> {
    const running = limiter.add(processor, startedAt, info.tenant);
    return new Promise((resolve) => {
      const deadline = {
        place: 0,
        at: startedAt + ackWithin,
        onReached() {
          const error = new WebhookError(
            'deadline',
            `The handler took longer than ackWithin (${String(ackWithin)} ms). It keeps running.`,
          );
          const log = request.log ?? logger;
          const late = processor.done.then((lateResult) =>
            reporter.report(startedAt, info, lateResult, log, true),
          );
          processor.abort(error);
          resolve({ outcome: 'deadline', error });
          const waitUntil = request.waitUntil?.bind(request) ?? settings.waitUntil;
          keepAlive(late, waitUntil, info, log, settings);
        },
      };
      scheduler.add(deadline);
      void processor.done.then((result) => {
        scheduler.delete(deadline);
        limiter.delete(running);
        resolve(result);
      });
    });
  }

  return (request) => {
    const channel = CHANNELS.delivery;
    if (channel?.hasSubscribers !== true) return respond(request);
    const { method = 'POST', headers } = request;
    const message: DeliveryMessage = { source: 'webhook', method, headers };
    return tracedDelivery(channel, message, () => respond(request));
  };
}

/** Passes a handler that runs beyond its deadline to the platform's `waitUntil`, if there is one. */
export function keepAlive(
  work: Promise<unknown>,
  waitUntil: ((work: Promise<unknown>) => unknown) | undefined,
  info: DeliveryInfo,
  log: Logger,
  { handlers: { redact, onError } }: Pick<Settings, 'handlers'>,
): void {
  if (!waitUntil) return;
  callHook(waitUntil, work, (error) => {
    const { text, err } = loggedError(error, redact);
    safeLogger(log).warn(
      { ...deliveryFields(info), err, docs: docsUrl('raw-body.md#work-after-the-response') },
      `call-webhooks: waitUntil failed: ${text}`,
    );
    if (onError)
      callErrorHook(onError, [{ source: 'hook', error }], { outcome: 'deadline', ...info });
  });
}
