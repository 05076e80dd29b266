import { openChannel, openTracingChannel } from '#platform';
import type { WebhookError } from '../errors.ts';
import type { DeliverySource, Outcome } from '../outcomes.ts';
import type { TracingChannel } from '../platform/platform.ts';
import type { QueuedDelivery } from '../queue.ts';
import { withRedactedIds } from './redact.ts';

/**
 * The fields of every message. `error` and `result` are set by the channel before it publishes the end
 * of the step.
 */
interface Message {
  /** The error, redacted. */
  error?: WebhookError;
}

/** The message of `call-webhooks:delivery`: one HTTP request, one job of a worker, or one `deliver`. */
export interface DeliveryMessage extends Message {
  readonly source: DeliverySource;
  /** The method of the request. It is not verified. */
  readonly method?: string | undefined;
  /** The headers of the request, to continue a trace. They are not verified. */
  readonly headers?: object | undefined;
  readonly queued?: QueuedDelivery | undefined;
  result?: { readonly outcome: Outcome };
}

/** The message of `call-webhooks:handler`: one run of a handler. Its ids are redacted. */
export interface HandlerMessage extends Message {
  readonly source: DeliverySource;
  readonly tenant?: string | undefined;
  readonly webhookId: string;
  readonly eventName: string | undefined;
  readonly callId: string | undefined;
  /** The idempotency key; `undefined` for an event without one. */
  readonly key: string | undefined;
  /** The number of this attempt at the event, counted from 1. */
  readonly attempt: number;
}

/** The message of `call-webhooks:store`: one call of the store. */
export interface StoreMessage extends Message {
  readonly operation: 'admit' | 'complete' | 'release' | 'extend' | 'reopen' | 'peek';
  readonly key: string | undefined;
  /** The answer: an admission, or whether the token still held the lease. */
  result?: { status: string; attempt?: number } | boolean;
}

/** The message of `call-webhooks:enqueue`: one delivery that is handed to the queue. */
export interface EnqueueMessage extends Message {
  /** Set its `trace` to pass a trace context on to the worker. */
  readonly delivery: QueuedDelivery;
}

/** The message of `call-webhooks:outcome`: what `onOutcome` is called with, including late outcomes. */
export interface OutcomeMessage {
  readonly outcome: Outcome;
}

/**
 * If the runtime has no diagnostics channels, or a channel has no subscribers, each use costs one
 * check.
 */
export const CHANNELS = {
  delivery: openTracingChannel('call-webhooks:delivery'),
  handler: openTracingChannel('call-webhooks:handler'),
  store: openTracingChannel('call-webhooks:store'),
  enqueue: openTracingChannel('call-webhooks:enqueue'),
  outcome: openChannel('call-webhooks:outcome'),
};

/**
 * Runs a step, within its channel if the channel has subscribers. The error that is published is
 * redacted; the caller gets the original.
 * @param message what the channel publishes
 * @param run gives a promise, or anything if its result is awaited
 * @param redactError makes a `WebhookError` of what the step threw; not needed if it throws one
 */
export function traced<Result>(
  step: keyof Omit<typeof CHANNELS, 'outcome'>,
  message: () => object,
  run: () => Result,
  redactError = (error: unknown): WebhookError => error as WebhookError,
): Result {
  const channel = CHANNELS[step];
  if (channel?.hasSubscribers !== true) return run();
  return within(channel, message(), run, redactError) as Result;
}

/** As `TracingChannel.tracePromise`, whose caller would get the redacted error. */
async function within(
  channel: TracingChannel,
  message: object,
  run: () => unknown,
  redactError: (error: unknown) => WebhookError,
): Promise<unknown> {
  let thrown: { error: unknown } | undefined;
  const step = async () => {
    try {
      return await run();
    } catch (error) {
      thrown = { error };
      throw redactError(error);
    }
  };
  try {
    return await channel.tracePromise(step, message);
  } catch (redacted) {
    throw thrown ? thrown.error : redacted;
  }
}

/** As `traced`, for a whole delivery. The outcome that is published has redacted ids. */
export async function tracedDelivery<T extends { readonly outcome: Outcome }>(
  message: () => DeliveryMessage,
  run: () => Promise<T>,
): Promise<T> {
  if (CHANNELS.delivery?.hasSubscribers !== true) return run();
  let result: T | undefined;
  const step = async () => {
    result = await run();
    return { outcome: withRedactedIds(result.outcome) };
  };
  await traced('delivery', message, step);
  return result as T;
}
