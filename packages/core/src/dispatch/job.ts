import { isPending, type Awaitable } from '../awaitable.ts';
import { toBase64 } from '../base64.ts';
import { CHANNELS, traced } from '../channels/channels.ts';
import { parsePayload } from '../events/payload.ts';
import {
  originsOf,
  withOrigin,
  type DeliveryContent,
  type ErrorOrigin,
} from '../outcome/origin.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Queue, QueuedDelivery } from '../queue.ts';
import { describeError } from '../redact/error-text.ts';
import type { Result } from '../reporting/reporter.ts';
import type { Profile } from '../profile.ts';
import type { DeadLetterSink } from '../store/dead-letter.ts';
import { tenantKey } from '../tenant.ts';
import type { DeadlineScheduler } from '../time/deadline-scheduler.ts';
import type { DeliveryContext } from './context.ts';
import type { Delivery } from './delivery.ts';
import { groupOf, type OneAtATime } from './group.ts';
import { handlerFailed, runHandler } from './run-handler.ts';
import { ofTenant, UNHANDLED_ROUTE, type Route, type Routes } from './routes.ts';
import { toDeadLetter } from './to-dead-letter.ts';

/** What to do with one delivery. */
export interface Job {
  readonly route: Route;
  /** The key to lease, or `undefined` if there is nothing to protect. */
  readonly key: string | undefined;
  /** The group of which one event runs at a time. */
  readonly group?: string | undefined;
  /** What its run does. Only a failed `handler` goes to `deadLetter`, after `maxAttempts`. */
  readonly kind: 'handler' | 'enqueue' | 'dead-letter';
  run(context: DeliveryContext): Awaitable<Result>;
  /** Makes the response's error out of what `run` threw. */
  failure(error: unknown): WebhookError;
}

/** What `createJob` needs: parts of a receiver, and some of its checked options. */
export interface JobDependencies {
  readonly routes: Routes;
  readonly scheduler: DeadlineScheduler;
  readonly settings: {
    readonly handlers: { readonly deadLetter?: DeadLetterSink | undefined };
    readonly queue: Queue | undefined;
    readonly oneAtATime: OneAtATime | undefined;
    readonly profile: Profile | undefined;
    /** Milliseconds for one call of the queue. */
    readonly storeTimeout: number;
    /** Milliseconds since the epoch. */
    readonly now: () => number;
  };
}

/**
 * The job for a delivery: run its handler, enqueue it, or, for an invalid payload, hand it to the
 * dead-letter sink.
 * @throws WebhookError `invalid-payload` without a dead-letter sink
 */
export async function createJob(delivery: Delivery, deps: JobDependencies): Promise<Job> {
  const { handlers, queue, oneAtATime, profile, now } = deps.settings;
  try {
    const own = ofTenant(await deps.routes.find(delivery.rawBody), delivery.tenant);
    const route = profile === undefined ? own : withKey(own, delivery);
    if (queue) return queueJob(route, delivery, queue, deps);
    const named = groupOf(oneAtATime, route);
    const group = named === undefined ? undefined : tenantKey(delivery.tenant, named);
    // A group is leased together with a key. Without one of its own, the event gets its delivery's.
    if (group !== undefined) return new HandlerJob(route, withKey(route, delivery).key, group);
    return new HandlerJob(route, route.handle && route.key);
  } catch (error) {
    if (handlers.deadLetter && error instanceof WebhookError && error.code === 'invalid-payload')
      return deadLetterJob(error, delivery, handlers.deadLetter, now);
    throw error;
  }
}

/** With Standard Webhooks, the webhook id identifies an event that has no key of its own. */
const withKey = (route: Route, { tenant, webhookId }: Delivery): Route =>
  route.key === undefined ? { ...route, key: tenantKey(tenant, `webhook-id:${webhookId}`) } : route;

const HANDLED: Result = { outcome: 'handled' };
const IGNORED: Result = { outcome: 'ignored' };

/** Runs the user's handler. */
class HandlerJob implements Job {
  readonly route: Route;
  readonly key: string | undefined;
  readonly group: string | undefined;
  readonly kind = 'handler';

  constructor(route: Route, key: string | undefined, group?: string) {
    this.route = route;
    this.key = key;
    this.group = group;
  }

  run(context: DeliveryContext): Awaitable<Result> {
    const running = runHandler(this.route, context);
    const result = this.route.outcome === 'handled' ? HANDLED : IGNORED;
    // A promise of our own, as `await` would make: the `then` of a thenable need not return one.
    return isPending(running) ? Promise.resolve(running).then(() => result) : result;
  }

  failure(error: unknown): WebhookError {
    return handlerFailed(error, this.route.sensitiveData);
  }
}

/** Enqueues the raw bytes. A worker runs the handler. */
function queueJob(
  route: Route,
  delivery: Delivery,
  queue: Queue,
  { scheduler, settings: { storeTimeout } }: JobDependencies,
): Job {
  const { tenant, webhookId, timestamp, receivedAt, rawBody } = delivery;
  const { key, eventName } = route;
  const queued: QueuedDelivery = {
    ...(tenant !== undefined && { tenant }),
    webhookId,
    timestamp,
    receivedAt,
    ...(key !== undefined && { key }),
    ...(eventName !== undefined && { eventName }),
    body: toBase64(rawBody),
  };
  const failure = (error: unknown) => {
    const { sensitiveData } = route;
    const message = `The queue did not accept the delivery: ${describeError(error, sensitiveData)}`;
    const failed = new WebhookError('store-unavailable', message);
    return withOrigin(failed, { source: 'queue', error, sensitiveData });
  };
  return {
    route,
    key,
    kind: 'enqueue',
    async run(): Promise<Result> {
      const channel = CHANNELS.enqueue;
      const enqueue = () => scheduler.withTimeout(storeTimeout, queue.enqueue(queued));
      if (channel?.hasSubscribers !== true) await enqueue();
      else await traced(channel, { delivery: queued }, enqueue, failure);
      return { outcome: 'queued' };
    },
    failure,
  };
}

/** Hands a payload that can never be handled to the dead-letter sink. */
function deadLetterJob(
  error: WebhookError,
  delivery: Delivery,
  deadLetter: DeadLetterSink,
  now: () => number,
): Job {
  return {
    route: { ...UNHANDLED_ROUTE, eventName: error.eventName },
    key: undefined,
    kind: 'dead-letter',
    async run(): Promise<Result> {
      await deadLetter(toDeadLetter('invalid-payload', delivery, { attempt: 1, error, at: now() }));
      return { outcome: 'dead-lettered', error };
    },
    failure(sinkError) {
      const { eventName, issues } = error;
      const { text, origin } = sinkFailure(sinkError, delivery.rawBody);
      const message = `${error.message} The deadLetter sink failed as well: ${text}`;
      const failed = new WebhookError('invalid-payload', message, { eventName, issues });
      return withOrigin(failed, ...originsOf(error), origin);
    },
  };
}

/** A sink's error may quote the body. If that cannot be parsed, it cannot be redacted either. */
export function sinkFailure(
  error: unknown,
  rawBody: Uint8Array,
): { text: string; origin: ErrorOrigin } {
  const source = 'dead-letter';
  let sensitiveData: DeliveryContent;
  try {
    sensitiveData = { body: parsePayload(rawBody) };
  } catch {
    const text = 'its error may quote the body and is withheld';
    return { text, origin: { source, error, isWithheld: true } };
  }
  return { text: describeError(error, sensitiveData), origin: { source, error, sensitiveData } };
}
