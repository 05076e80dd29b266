import { createReceiver } from '@call-webhooks/core';
import type {
  ExtraEvents,
  Receiver,
  ReceiverOptions,
  StandardSchema,
  Store,
  StoreWithoutCompleteIn,
} from '@call-webhooks/core';
import type { FastifyInstance } from 'fastify';
import { mount } from './mount.ts';

export * from '@call-webhooks/core';

/** Where the receiver is mounted. */
export interface MountOptions {
  /** The path after the plugin's `prefix`; `'/'` by default. A trailing slash makes no difference. */
  path?: string | undefined;
  /** Milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
  /** Fastify's own prefix of the plugin. */
  prefix?: string;
}

/** The options of a receiver, or a receiver that you created, and where it is mounted. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = MountOptions & (ReceiverOptions<Extra, Custom, S> | { receiver: Receiver });

/**
 * A Fastify plugin that receives call webhooks. It is encapsulated, so the rest of the app keeps its
 * body parsers. It closes with the app: it waits for running handlers, and releases the leases of
 * unfinished ones.
 * @throws WebhookError `invalid-options` or `invalid-secret`, when the plugin loads
 * @example
 * await app.register(callWebhooks, { path: '/hook', secret, on: { … } });
 */
export async function callWebhooks(
  app: FastifyInstance,
  { path = '/', graceMs = 10_000, prefix: _prefix, ...options }: CallWebhooksOptions,
): Promise<void> {
  const receiver = 'receiver' in options ? options.receiver : createReceiver(options);
  const ownPath = path.replace(/\/+$/, '');
  await app.register(
    (scope, _options, done) => {
      mount(scope, receiver, graceMs, ownPath !== '');
      done();
    },
    { prefix: ownPath },
  );
}

/**
 * Gives the handlers of extra events and custom payloads their types, which `register` cannot infer.
 * @example
 * const options = defineOptions({ secret, events: { 'call:voicemail': schema }, on: { … } });
 * await app.register(callWebhooks, options);
 */
export const defineOptions = <
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(
  options: CallWebhooksOptions<Extra, Custom, S>,
): CallWebhooksOptions => options as CallWebhooksOptions;

export default callWebhooks;
