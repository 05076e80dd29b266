import {
  createReceiver,
  type ExtraEvents,
  type Receiver,
  type ReceiverOptions,
  type StandardSchema,
  type Store,
  type StoreWithoutCompleteIn,
} from '@call-webhooks/core';
import { requestOf, type LambdaHttpEvent } from './event.ts';
import { timeoutWarning, waitForLateWork, type LambdaContext } from './late-work.ts';
import { responseTo, type LambdaHttpResponse } from './response.ts';

export * from '@call-webhooks/core';
export type { LambdaContext, LambdaHttpEvent, LambdaHttpResponse };

/** A Lambda function behind an HTTP trigger, with its receiver. */
export interface LambdaHandler {
  (event: LambdaHttpEvent, context?: LambdaContext): Promise<LambdaHttpResponse>;
  readonly receiver: Receiver;
}

/** `ackWithin` of core, in milliseconds. */
const DEFAULT_ACK_WITHIN = 20_000;

/**
 * Creates a Lambda function for API Gateway (payloads 1.0 and 2.0), function URLs and Application Load
 * Balancers. It rejects an event of any other trigger with a `WebhookError` that names the fix.
 *
 * Lambda freezes a function once it has responded. A handler that is not done by `ackWithin` is
 * therefore waited for: its response, 503 `deadline`, is sent when it ends, or a second before the
 * function's timeout.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * export const handler = callWebhooks({ secret, on: { 'call:completed': async (event) => { … } } });
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): LambdaHandler {
  const receiver = createReceiver(options);
  const { logger = console, ackWithin = DEFAULT_ACK_WITHIN } = options;
  const warnOfTimeout = timeoutWarning(ackWithin, logger);
  const handle = async (event: LambdaHttpEvent, context?: LambdaContext) => {
    const request = requestOf(event);
    warnOfTimeout(context);
    const late: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void late.push(work);
    const response = await receiver.receive({ ...request, waitUntil });
    await waitForLateWork(late, context, logger);
    return responseTo(event, response);
  };
  return Object.assign(handle, { receiver });
}
