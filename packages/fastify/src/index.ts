import { createReceiver } from '@call-webhooks/core';
import type { ExtraEvents, Receiver, ReceiverOptions, StandardSchema } from '@call-webhooks/core';
import type { FastifyInstance } from 'fastify';
import { mount } from './mount.ts';

/** Where the receiver is mounted. */
export interface MountOptions {
  /** `'/'` by default; it comes after the plugin's `prefix`. A trailing slash makes no difference. */
  path?: string | undefined;
  /** Milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
  /** Fastify's own. */
  prefix?: string;
}

/** The options of a receiver, or a receiver that was made already; and where it is mounted. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> = MountOptions & (ReceiverOptions<Extra, Custom> | { receiver: Receiver });

/**
 * A Fastify plugin that receives call webhooks:
 * `app.register(callWebhooks, { path: '/hook', secret, on })`.
 *
 * It is encapsulated, so the rest of the app keeps its parsers, and it closes with the app: running
 * handlers are waited for, and the leases of those that take too long are given back.
 * @throws WebhookError `invalid-options` and `invalid-secret`, when the plugin loads
 */
export async function callWebhooks(
  app: FastifyInstance,
  { path = '/', graceMs = 10_000, prefix: _prefix, ...options }: CallWebhooksOptions,
): Promise<void> {
  const receiver = 'receiver' in options ? options.receiver : createReceiver(options);
  const own = path.replace(/\/+$/, '');
  await app.register(
    (scope, _options, done) => {
      mount(scope, receiver, graceMs, own !== '');
      done();
    },
    { prefix: own },
  );
}

/**
 * Types the handlers of extra events and custom payloads, which `register` can't infer:
 * `app.register(callWebhooks, defineOptions({ events: { 'call:voicemail': schema }, on: { … } }))`.
 */
export const defineOptions = <
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
>(
  options: CallWebhooksOptions<Extra, Custom>,
): CallWebhooksOptions => options as CallWebhooksOptions;

export default callWebhooks;
