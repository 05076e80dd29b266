import { createReceiver, type ExtraEvents, type StandardSchema } from '@call-webhooks/core';
import type { Receiver, ReceiverOptions, Store } from '@call-webhooks/core';
import type { StoreWithoutCompleteIn } from '@call-webhooks/core/stores';
import { read, withoutOptions, wrongArgument } from '@call-webhooks/core/internal';
import type { FastifyInstance } from 'fastify';
import { mount } from './mount.ts';

export * from '@call-webhooks/core';

const TAKES =
  "This is a plugin, and takes Fastify's app: await app.register(callWebhooks({ path: '/hook', … })).";

/** Where the receiver is mounted, and how it closes. */
export interface MountOptions {
  /**
   * The path of the receiver, after the `prefix` of `register`; `'/'` by default. A trailing slash
   * makes no difference.
   */
  path?: string | undefined;
  /** The time in milliseconds that `app.close()` waits for running handlers; 10,000 by default. */
  graceMs?: number | undefined;
}

/** The options of a receiver, or a receiver that you created, and where it is mounted. */
export type CallWebhooksOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> = MountOptions & (ReceiverOptions<Extra, Custom, S> | { receiver: Receiver });

/** A Fastify plugin, together with its receiver. */
export interface CallWebhooksPlugin {
  (app: FastifyInstance): Promise<void>;
  /** The receiver of this handler, for `health()`, `deliver()` and `close()`. */
  readonly receiver: Receiver;
}

/**
 * Creates a Fastify plugin that receives call webhooks. The plugin is encapsulated, so the rest of the
 * app keeps its body parsers. Its receiver closes with the app: it waits for running handlers, and
 * releases the leases of those that have not finished.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * await app.register(callWebhooks({ path: '/hook', secret, on: { … } }));
 */
export function callWebhooks<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: CallWebhooksOptions<Extra, Custom, S>): CallWebhooksPlugin;
/**
 * Registers the receiver directly: Fastify calls this plugin with the options of `register`. If you use
 * the option `events`, register `callWebhooks({ … })` instead, which also types the handlers of these
 * events.
 * @example
 * await app.register(callWebhooks, { path: '/hook', secret, on: { … } });
 */
export function callWebhooks(app: FastifyInstance, options: CallWebhooksOptions): Promise<void>;
export function callWebhooks(
  given: FastifyInstance | CallWebhooksOptions,
  registered?: CallWebhooksOptions,
): CallWebhooksPlugin | Promise<void> {
  return isApp(given) ? registerIn(given, registered) : pluginOf(given);
}

const isApp = (given: unknown): given is FastifyInstance =>
  typeof read(given, 'register') === 'function';

async function registerIn(app: FastifyInstance, options: object = {}): Promise<void> {
  await pluginOf(options as CallWebhooksOptions, OF_REGISTER)(app);
}

/** The options that Fastify itself reads, and passes on. */
const OF_REGISTER = ['prefix', 'logLevel', 'logSerializers'];

function pluginOf(
  options: CallWebhooksOptions,
  others: readonly string[] = [],
): CallWebhooksPlugin {
  const { path = '/', graceMs = 10_000 } = options;
  const receiver =
    'receiver' in options
      ? options.receiver
      : createReceiver(withoutOptions(options, 'path', 'graceMs', ...(others as [])));
  const ownPath = path.replace(/\/+$/, '');
  const plugin = async (app: FastifyInstance): Promise<void> => {
    if (!isApp(app)) throw wrongArgument(TAKES, app);
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

export default callWebhooks;
