import { sharesTimers } from '#hmac';
import type { Delivery } from '../dispatch/delivery.ts';
import type { ExtraEvents } from '../dispatch/handlers.ts';
import { HandlerJob, invalidJob, queueJob, type Job } from '../dispatch/job.ts';
import { Routes, type Route } from '../dispatch/routes.ts';
import type { StandardSchema } from '../events/standard-schema.ts';
import { readBody, type BodyReader } from '../http/body.ts';
import type { HeadersLike } from '../http/headers.ts';
import { checkRequest } from '../http/request.ts';
import { responseFor, type ReceiverResponse } from '../outcome/response.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../privacy/scrub.ts';
import { failure } from '../reporting/failure.ts';
import type { Logger } from '../reporting/logger.ts';
import { Reporter, type Facts, type Verdict } from '../reporting/reporter.ts';
import { safeLogger } from '../reporting/safe-logger.ts';
import { authenticate } from '../signature/authenticate.ts';
import { secretSource } from '../signature/secret-source.ts';
import { boundedStore } from '../store/bounded-store.ts';
import { TimerPerWait } from '../time/timer-per-wait.ts';
import { Watch } from '../time/watch.ts';
import { Gate } from './gate.ts';
import { healthOf, type Health } from './health.ts';
import type { ReceiverOptions } from './options.ts';
import { settingsOf } from './settings.ts';
import { Work } from './work.ts';

/** One HTTP request, as an adapter hands it over. */
export interface ReceiverRequest {
  /** POST when absent. */
  method?: string | undefined;
  headers: HeadersLike;
  /** The raw bytes, or how to get them once it is their turn. */
  body: Uint8Array | BodyReader;
  /** The logger of this request; the receiver's by default. */
  log?: Logger | undefined;
  /** Keeps a serverless function alive for a handler that goes on after the answer. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** Takes requests, gives answers. Made by `createReceiver`, and within every adapter. */
export interface Receiver {
  /** Never rejects, and never answers anything that is not in the answer table. */
  receive(request: ReceiverRequest): Promise<ReceiverResponse>;
  /**
   * Whether store and queue answer, each asked for `storeTimeout` at most: for a readiness probe.
   * Never rejects.
   */
  health(): Promise<Health>;
  /**
   * Stops admitting deliveries (503), waits for running handlers, and gives the leases of those back
   * that are not done in time. Stores and queues that were passed in stay open: close them after it.
   * @param options.graceMs milliseconds to wait for handlers; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * The receiver: verifies deliveries, keeps replays and duplicates out, and runs the handlers.
 * @throws WebhookError `invalid-options` and `invalid-secret`, with the fix in the message
 */
export function createReceiver<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): Receiver {
  const settings = settingsOf(options as ReceiverOptions<never, never>);
  const { now, handlers, queue, ackWithin, storeTimeout, logger } = settings;
  const watch = sharesTimers ? new Watch() : new TimerPerWait();
  const rules = { ...settings, secrets: secretSource(settings.secret, watch, safeLogger(logger)) };
  const routes = new Routes(handlers);
  const gate = new Gate(settings.maxInFlight);
  const reporter = new Reporter(settings.onOutcome);
  const shop = {
    settings,
    watch,
    store: boundedStore(settings.store, storeTimeout, watch),
    jobFor,
  };

  async function receive(request: ReceiverRequest): Promise<ReceiverResponse> {
    const startedAt = performance.now();
    const facts: Facts = {};
    let verdict: Verdict;
    try {
      checkRequest(request, settings.bodyLimit);
      const rawBody = await readBody(request.body, settings);
      const receivedAt = now();
      const authentic = authenticate(request.headers, rawBody, receivedAt, rules);
      const { webhookId, timestamp, secretId } =
        authentic instanceof Promise ? await authentic : authentic;
      facts.webhookId = webhookId;
      facts.secretId = secretId;

      gate.check();
      const delivery = {
        webhookId,
        timestamp,
        receivedAt,
        secretId,
        rawBody,
        log: request.log ?? logger, // as it is: a handler may know more of it than we do
      };
      const work = new Work(delivery, facts, shop);
      verdict = work.verdict ?? (await answerInTime(work, facts, request, startedAt));
    } catch (error) {
      verdict = failure(error);
    }
    return responseFor(reporter.report(startedAt, facts, verdict, request.log ?? logger));
  }

  function jobFor(delivery: Delivery): Job | Promise<Job> {
    const jobOf = (route: Route) =>
      queue ? queueJob(route, delivery, queue, storeTimeout, watch) : new HandlerJob(route);
    const unfit = (error: unknown) => {
      const { deadLetter } = handlers;
      if (deadLetter && error instanceof WebhookError && error.code === 'invalid-payload')
        return invalidJob(error, delivery, deadLetter);
      throw error;
    };
    try {
      const route = routes.find(delivery.rawBody);
      return route instanceof Promise ? route.then(jobOf).catch(unfit) : jobOf(route);
    } catch (error) {
      return unfit(error);
    }
  }

  /** The verdict of work that goes on, or `deadline`: the work then goes on, and its verdict is reported as late. */
  function answerInTime(
    work: Work,
    facts: Facts,
    request: ReceiverRequest,
    startedAt: number,
  ): Promise<Verdict> {
    gate.enter(work, startedAt);
    return new Promise((resolve) => {
      const deadline = {
        at: startedAt + ackWithin,
        wake() {
          const error = new WebhookError(
            'deadline',
            `The handler is not done after ackWithin, ${String(ackWithin)} ms. It goes on.`,
          );
          const log = request.log ?? logger;
          const late = work.done.then((verdict) =>
            reporter.report(startedAt, facts, verdict, log, true),
          );
          work.abort(error);
          resolve({ outcome: 'deadline', error });
          try {
            request.waitUntil?.(late);
          } catch (refused) {
            safeLogger(log).warn(`call-webhooks: waitUntil failed: ${describeError(refused)}`);
          }
        },
      };
      watch.add(deadline);
      void work.done.then((verdict) => {
        watch.delete(deadline);
        gate.leave(work);
        resolve(verdict);
      });
    });
  }

  return {
    receive,
    health: () =>
      healthOf({ store: settings.store, queue, closing: gate.closing }, storeTimeout, watch),
    async close({ graceMs = 10_000 } = {}) {
      await gate.close(graceMs);
    },
  };
}
