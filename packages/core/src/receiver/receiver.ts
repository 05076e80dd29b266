import { sharesTimers } from '#hmac';
import type { ExtraEvents } from '../dispatch/handlers.ts';
import { Routes } from '../dispatch/routes.ts';
import type { StandardSchema } from '../events/schema.ts';
import { readBody, type BodyReader } from '../http/body.ts';
import { CHANNELS, traced, type DeliveryMessage } from '../channels/channels.ts';
import { checkRequest, type HeadersLike } from '../http/request.ts';
import { docsUrl } from '../outcome/docs-url.ts';
import { responseFor, type ReceiverResponse } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../redact.ts';
import { safeLogger, type Logger } from '../reporting/logger.ts';
import { deliveryFields } from '../reporting/outcome-line.ts';
import { failureResult, Reporter, type DeliveryInfo, type Result } from '../reporting/reporter.ts';
import { authenticate } from '../signature/authenticate.ts';
import { keySource } from '../signature/secret-provider.ts';
import { boundedStore } from '../store/bounded-store.ts';
import { DeadlineScheduler, TimerPerDeadline } from '../time/deadline-scheduler.ts';
import { ConcurrencyLimiter } from './concurrency-limiter.ts';
import { checkHealth, type Health } from './health.ts';
import { GroupTurns } from './group-turns.ts';
import type { ReceiverOptions } from './options.ts';
import { DeliveryProcessor } from './process-delivery.ts';
import { resolveSettings } from './settings.ts';

/** One HTTP request, as an adapter passes it on. */
export interface ReceiverRequest {
  /** POST when absent. */
  method?: string | undefined;
  headers: HeadersLike;
  /** The raw bytes, or a function that reads them. */
  body: Uint8Array | BodyReader;
  /** The logger of this request; the receiver's by default. */
  log?: Logger | undefined;
  /** Keeps a serverless function alive for a handler that runs beyond its deadline. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Turns requests into responses. Created by `createReceiver`, and inside every adapter. */
export interface Receiver {
  /** Handles one request. Never rejects, and responds only with outcomes of the table `OUTCOMES`. */
  receive(request: ReceiverRequest): Promise<ReceiverResponse>;
  /**
   * Whether deliveries can be accepted now, for a readiness probe: store and queue answer within
   * `storeTimeout`, the secret provider works, and fewer than `maxInFlight` are running. Never rejects.
   */
  health(): Promise<Health>;
  /**
   * Stops accepting deliveries (503), waits for running handlers, and releases the leases of
   * unfinished ones. It ends within `graceMs` and one second, even if the store does not answer. Stores and queues that were passed in stay open: close them afterwards.
   * @param options.graceMs milliseconds to wait for handlers; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Creates a receiver: it verifies deliveries, rejects replays and duplicates, and runs the handlers.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * const receiver = createReceiver({
 *   secret: process.env.CALL_WEBHOOK_SECRET,
 *   on: { 'call:completed': async (event, { call }) => { … } },
 * });
 * const { status, headers, body } = await receiver.receive({ method, headers, body: rawBytes });
 */
export function createReceiver<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): Receiver {
  const settings = resolveSettings(options as ReceiverOptions<never, never>);
  const { now, handlers, queue, oneAtATime, ackWithin, storeTimeout, logger } = settings;
  const scheduler = sharesTimers ? new DeadlineScheduler() : new TimerPerDeadline();
  const keys = keySource(settings.secret, scheduler, safeLogger(logger));
  const rules = { ...settings, keys };
  const limiter = new ConcurrencyLimiter(settings.maxInFlight);
  const reporter = new Reporter(handlers);
  const turns = oneAtATime && new GroupTurns({ scheduler, ackWithin, wakes: sharesTimers });
  const deps = {
    settings,
    scheduler,
    queue,
    oneAtATime,
    turns,
    profile: settings.profile,
    storeTimeout,
    now,
    deadLetter: handlers.deadLetter,
    routes: new Routes(handlers),
    store: boundedStore(settings.store, storeTimeout, scheduler),
  };

  function receive(request: ReceiverRequest): Promise<ReceiverResponse> {
    const channel = CHANNELS.delivery;
    if (channel?.hasSubscribers !== true) return respond(request);
    const { method = 'POST', headers } = request;
    const message: DeliveryMessage = { method, headers };
    return traced(channel, message, () => respond(request));
  }

  async function respond(request: ReceiverRequest): Promise<ReceiverResponse> {
    const startedAt = performance.now();
    const info: DeliveryInfo = {};
    let result: Result;
    try {
      checkRequest(request, settings.bodyLimit);
      const rawBody = await readBody(request.body, settings);
      const receivedAt = now();
      const pending = authenticate(request.headers, rawBody, receivedAt, rules);
      const authentic = pending instanceof Promise ? await pending : pending;
      const { webhookId, timestamp, replayUntil, secretId } = authentic;
      info.webhookId = webhookId;
      info.secretId = secretId;
      info.lagMs = Math.max(0, receivedAt - timestamp * 1000);

      limiter.check();
      const delivery = {
        webhookId,
        timestamp,
        receivedAt,
        secretId,
        rawBody,
        log: request.log ?? logger, // unchanged: a handler may use more of it than we do
      };
      const processor = new DeliveryProcessor(delivery, replayUntil, info, deps);
      processor.start(startedAt);
      result = processor.result ?? (await resultInTime(processor, info, request, startedAt));
    } catch (error) {
      result = failureResult(error);
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
    limiter.add(processor, startedAt);
    return new Promise((resolve) => {
      const deadline = {
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
          try {
            request.waitUntil?.(late);
          } catch (thrown) {
            safeLogger(log).warn(
              { ...deliveryFields(info), docs: docsUrl('raw-body.md#work-after-the-response') },
              `call-webhooks: waitUntil failed: ${describeError(thrown)}`,
            );
          }
        },
      };
      scheduler.add(deadline);
      void processor.done.then((result) => {
        scheduler.delete(deadline);
        limiter.delete(processor);
        resolve(result);
      });
    });
  }

  return {
    receive,
    health: () =>
      checkHealth(
        {
          store: settings.store,
          queue,
          keys: typeof settings.secret === 'function' ? keys : undefined,
          closing: limiter.closing,
          full: limiter.full,
        },
        storeTimeout,
        scheduler,
      ),
    async close({ graceMs = 10_000 } = {}) {
      turns?.close();
      await limiter.close(graceMs);
    },
  };
}
