import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createReceiver,
  type ExtraEvents,
  type Receiver,
  type ReceiverOptions,
  type StandardSchema,
} from '@call-webhooks/core';
import { nodeHandler } from '@call-webhooks/core/node';
import { duringBuild, onFirstUse } from './build-phase.ts';

const FIX =
  'Switch the parser off in this file, as a literal: export const config = { api: { bodyParser: false } }';

/** An API route of the Pages Router, with the receiver that it stands on. */
export interface ApiHandler {
  (request: IncomingMessage, response: ServerResponse): Promise<void>;
  readonly receiver: Receiver;
}

/**
 * An API route for the Pages Router: `export default callWebhooks({ secret, on })`. The same file
 * needs `export const config = { api: { bodyParser: false } }`, which Next reads as a literal only.
 * @throws WebhookError `invalid-options` and `invalid-secret`, as for the App Router
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(options: ReceiverOptions<Extra, Custom>): ApiHandler {
  const handler = onFirstUse(() => nodeHandler(createReceiver(options), FIX));
  if (!duringBuild()) handler();
  const handle = (request: IncomingMessage, response: ServerResponse) =>
    handler()(request, response);
  return Object.defineProperty(handle, 'receiver', {
    get: () => handler().receiver,
  }) as unknown as ApiHandler;
}
