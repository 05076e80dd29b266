import { isPending, type Awaitable } from '../awaitable.ts';
import { toBase64 } from '../base64.ts';
import { parsePayload } from '../events/payload.ts';
import type { OutcomeCode } from '../outcome/outcomes.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../privacy/scrub.ts';
import { scrubbedError } from '../privacy/scrubbed-error.ts';
import type { Queue, QueuedDelivery } from '../queue/queue.ts';
import type { Watch } from '../time/watch.ts';
import type { DeliveryContext } from './context.ts';
import type { Delivery } from './delivery.ts';
import type { DeadLetterSink, DeadLetter } from './handlers.ts';
import { NOWHERE, type Route } from './routes.ts';

/** What is to be done with one admitted delivery. */
export interface Job {
  readonly route: Route;
  /** The key to take the lease on; absent where there is nothing to protect. */
  readonly key: string | undefined;
  /** Whether it may be given up on after `maxAttempts`. */
  readonly canDeadLetter: boolean;
  /** Does it. What it throws is made into an answer by `failure`. */
  run(context: DeliveryContext): Awaitable<OutcomeCode>;
  failure(error: unknown): WebhookError;
}

/** Runs the user's handler, now. */
export class HandlerJob implements Job {
  readonly route: Route;
  readonly key: string | undefined;
  readonly canDeadLetter = true;

  constructor(route: Route) {
    this.route = route;
    this.key = route.handle && route.key;
  }

  run(context: DeliveryContext): Awaitable<OutcomeCode> {
    const { handle, payload, outcome } = this.route;
    const running = handle?.(payload, context);
    // Made a promise of ours, as `await` would: a thenable's own `then` need not give anything.
    return isPending(running) ? Promise.resolve(running).then(() => outcome) : outcome;
  }

  failure(error: unknown): WebhookError {
    return handlerFailed(error, this.route.personal);
  }
}

/** Puts the raw bytes where they are safe; a worker runs the handler. */
export function queueJob(
  route: Route,
  delivery: Delivery,
  queue: Queue,
  timeoutMs: number,
  watch: Watch,
): Job {
  const { webhookId, timestamp, receivedAt, rawBody } = delivery;
  const { key, eventName } = route;
  const queued: QueuedDelivery = {
    webhookId,
    timestamp,
    receivedAt,
    ...(key !== undefined && { key }),
    ...(eventName !== undefined && { eventName }),
    body: toBase64(rawBody),
  };
  return {
    route,
    key,
    canDeadLetter: false, // nothing is wrong with the delivery when a queue is down
    async run(): Promise<OutcomeCode> {
      await watch.within(timeoutMs, queue.enqueue(queued));
      return 'queued';
    },
    failure: (error) =>
      new WebhookError(
        'store-unavailable',
        `The queue did not take the delivery: ${describeError(error, route.personal)}`,
      ),
  };
}

/** Hands a payload that can never be handled to the dead-letter sink. */
export function invalidJob(
  error: WebhookError,
  delivery: Delivery,
  deadLetter: DeadLetterSink,
): Job {
  return {
    route: { ...NOWHERE, payload: undefined, personal: undefined },
    key: undefined,
    canDeadLetter: false,
    async run(): Promise<OutcomeCode> {
      await deadLetter(toDeadLetter('invalid-payload', delivery, 1, error));
      return 'dead-lettered';
    },
    failure: (sinkError) =>
      new WebhookError(
        'invalid-payload',
        `${error.message} The deadLetter sink failed too: ${describeSinkError(sinkError, delivery.rawBody)}`,
      ),
  };
}

/** A sink may quote the body that it did not take; what is in a body that can't be read, we don't know. */
export function describeSinkError(error: unknown, rawBody: Uint8Array): string {
  let personal: unknown;
  try {
    personal = parsePayload(rawBody);
  } catch {
    return 'its error may quote the body, and is withheld';
  }
  return describeError(error, personal);
}

/** @param personal what the delivery held: it is taken out of the message */
export function handlerFailed(error: unknown, personal: unknown): WebhookError {
  return scrubbedError('handler-failed', 'The handler failed: ', error, personal);
}

export function toDeadLetter(
  reason: DeadLetter['reason'],
  delivery: Delivery,
  attempt: number,
  error: unknown,
  route?: Route,
): DeadLetter {
  return {
    reason,
    rawBody: delivery.rawBody,
    webhookId: delivery.webhookId,
    timestamp: new Date(delivery.timestamp * 1000),
    ...(route?.eventName !== undefined && { eventName: route.eventName }),
    ...(route?.key !== undefined && { key: route.key }),
    attempt,
    error,
  };
}
