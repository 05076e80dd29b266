import { createReceiver, WebhookError } from '@call-webhooks/core';
import type { Receiver, ReceiverOptions, Store } from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import type { ExtraEvents, StandardSchema } from '@call-webhooks/core/internal';
import type { FastifyInstance } from 'fastify';
import { mount } from './mount.ts';

export * from '@call-webhooks/core';

/** Where the receiver is mounted. */
export interface MountOptions {
  /** The path after the `prefix` of `register`; `'/'` by default. A trailing slash makes no difference. */
  path?: string | undefined;
  /** Milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
}

/** The options of a receiver, or a receiver that you created, and where it is mounted. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = MountOptions & (ReceiverOptions<Extra, Custom, S> | { receiver: Receiver });

/** A Fastify plugin, with its receiver. */
export interface CallWebhooksPlugin {
  (app: FastifyInstance): Promise<void>;
  readonly receiver: Receiver;
}

/**
 * Creates a Fastify plugin that receives call webhooks. It is encapsulated, so the rest of the app
 * keeps its body parsers. Its receiver closes with the app: it waits for running handlers, and
 * releases the leases of unfinished ones.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * await app.register(callWebhooks({ path: '/hook', secret, on: { … } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: CallWebhooksOptions<Extra, Custom, S>): CallWebhooksPlugin {
  // Fastify waits for a promise, and would not notice what is thrown.
  if (isApp(options)) return Promise.reject(wrongCall()) as never;
  const { path = '/', graceMs = 10_000, ...rest } = options;
  const receiver = 'receiver' in rest ? rest.receiver : createReceiver(rest);
  const ownPath = path.replace(/\/+$/, '');
  const plugin = async (app: FastifyInstance): Promise<void> => {
    await app.register(
      (scope, _options, done) => {
        mount(scope, receiver, graceMs, ownPath !== '');
        done();
      },
      { prefix: ownPath },
    );
  };
  return Object.assign(plugin, { receiver });
}

/** Whether Fastify calls it, in place of the plugin that it returns. */
const isApp = (options: object): boolean =>
  'register' in options && typeof options.register === 'function';

const wrongCall = () =>
  new WebhookError(
    'invalid-options',
    'callWebhooks takes the options and returns the plugin: app.register(callWebhooks({ … })).',
  );

export default callWebhooks;
