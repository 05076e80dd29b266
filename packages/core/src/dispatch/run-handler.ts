import type { Awaitable } from '../awaitable.ts';
import { CHANNELS, traced, type HandlerMessage } from '../channels/channels.ts';
import { withOrigin, type DeliveryContent } from '../outcome/origin.ts';
import type { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact/error-text.ts';
import { withRedactedIds } from '../redact/ids.ts';
import type { DeliveryContext } from './context.ts';
import type { Route } from './routes.ts';

/** Runs the handler of a route, if it has one, within `call-webhooks:handler`. */
export function runHandler(route: Route, context: DeliveryContext): Awaitable<unknown> {
  const { handle, payload } = route;
  const channel = CHANNELS.handler;
  if (!handle || channel?.hasSubscribers !== true) return handle?.(payload, context);
  const { tenant, webhookId, attempt, source } = context;
  const { eventName, callId, key } = route;
  const message: HandlerMessage = withRedactedIds({
    ...{ webhookId, eventName, callId, key, attempt, source },
    ...(tenant !== undefined && { tenant }),
  });
  const failure = (error: unknown) => handlerFailed(error, route.sensitiveData);
  return traced(channel, message, () => handle(payload, context), failure);
}

/** @param sensitiveData the content of the delivery, which is removed from the message */
export function handlerFailed(
  error: unknown,
  sensitiveData: DeliveryContent | undefined,
): WebhookError {
  const failure = redactedError('handler-failed', 'The handler failed: ', error, sensitiveData);
  return withOrigin(failure, { source: 'handler', error, sensitiveData });
}
