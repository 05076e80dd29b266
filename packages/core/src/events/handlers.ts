import type { Handler, HandlerContext, Route } from '../delivery.ts';
import { type DeliveryContent, type WebhookError, withOrigin } from '../errors.ts';
import { type HandlerMessage, traced } from '../report/channels.ts';
import { redactedError } from '../report/error-text.ts';
import { withRedactedIds } from '../report/redact.ts';
import type { FieldNames } from './call-details.ts';
import type { CallEventMap, UnknownEvent } from './events.ts';
import type { OutputOf, StandardSchema } from './schema.ts';

/**
 * Runs the handler, together with the layers of `around` that are inside this one. Further calls return
 * the promise of the first one.
 */
export type Run = () => Promise<unknown>;

/**
 * A function that wraps each run of a handler, for spans, `AsyncLocalStorage`, timing, or the database
 * connection of a tenant. It has to call `run`, and should await it.
 *
 * The attempt fails if the handler fails, even if this function catches the error; if this function
 * throws; and if it ends without having called `run`. The attempt lasts until both have ended.
 * @example
 * around: (run, event, context) => storage.run({ key: context.key }, run)
 */
export type Around = (run: Run, event: unknown, context: HandlerContext) => unknown;

/** The handler wrapped in its layers; the first layer is the outermost. */
export const wrapHandler = (
  layers: readonly Around[],
  handle: Handler<unknown>,
): Handler<unknown> =>
  layers.reduceRight<Handler<unknown>>((inner, layer) => wrap(layer, inner), handle);

const NOT_CALLED = 'around did not call run before it ended, so the handler did not run.';

const wrap =
  (layer: Around, inner: Handler<unknown>): Handler<unknown> =>
  async (event, context) => {
    const handler: { running?: Promise<unknown>; isRefused?: boolean } = {};
    const run = () => {
      handler.running ??= new Promise((resolve) => {
        if (handler.isRefused) throw new Error(`${NOT_CALLED} It can no longer run.`);
        resolve(inner(event, context));
      });
      handler.running.catch(() => undefined); // it is awaited below
      return handler.running;
    };
    try {
      await layer(run, event, context);
      // Otherwise an event that was not handled would be acknowledged.
      if (!handler.running) throw new Error(NOT_CALLED);
    } finally {
      handler.isRefused = true; // the event may run elsewhere by then
      // A layer that forgets to await the handler must not acknowledge the event before it has ended.
      await handler.running;
    }
  };

/**
 * Schemas (zod, valibot, arktype and others that implement Standard Schema) of events that this package
 * does not know, by event name.
 */
export type ExtraEvents = Record<string, StandardSchema>;

/** The events of the service and those of the option `events`, by name. */
export type EventsWith<Extra extends ExtraEvents> = CallEventMap & {
  [Name in keyof Extra]: OutputOf<Extra[Name]>;
};

/**
 * Your handlers by event name, one for each event. An unknown name does not compile, and at start-up it
 * throws `invalid-options`.
 */
export type Handlers<Extra extends ExtraEvents = {}, Context = HandlerContext> = {
  [Name in keyof EventsWith<Extra>]?: Handler<EventsWith<Extra>[Name], Context> | undefined;
};

/**
 * Declares handlers in a separate file. Their parameters get the same types as in the options of a
 * receiver. `{ … } satisfies Handlers` does the same without a call.
 * @param handlers your handlers by event name; they are returned unchanged
 * @param _options `events`: the schemas of further events, as in the options of the receiver
 * @example
 * export const handlers = defineHandlers({
 *   'call:completed': async (event, { call }) => { … },
 * });
 * // elsewhere: callWebhooks({ secret, on: handlers })
 */
export const defineHandlers = <Extra extends ExtraEvents = {}>(
  // NoInfer: otherwise a misspelt name would be taken for an extra event.
  handlers: Handlers<NoInfer<Extra>>,
  _options?: { events?: Extra | undefined },
): Handlers<Extra> => handlers;

/**
 * The handler of an action with a custom payload, whose body has no `eventName` (spec, "Call webhook
 * body").
 */
export interface CustomPayload<
  Schema extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> {
  /**
   * The schema of the payload. Without it, the payload is passed on as it is, with the type `unknown`.
   */
  schema?: Schema | undefined;
  /**
   * Returns the idempotency key of a payload: a string of 1 to 4,000 characters, or `undefined`. A
   * payload without a key is handled each time it is delivered.
   */
  key?: ((payload: OutputOf<Schema>) => string | undefined) | undefined;
  /** Handles one payload. */
  handle: Handler<OutputOf<Schema>, Context>;
}

/** The options that say which handler gets which event. */
export interface RouteOptions<
  Extra extends ExtraEvents = ExtraEvents,
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> {
  /** Your handlers by event name. An event without a handler goes to `onUnhandled`. */
  // NoInfer: otherwise a misspelt name would be taken for an extra event.
  on?: Handlers<NoInfer<Extra>, Context> | undefined;
  /**
   * Schemas of events that this package does not know, by event name. They give the handlers in `on`
   * their types. There are none by default.
   */
  events?: Extra | undefined;
  /**
   * The handler of custom payloads, whose body has no `eventName`. Without it, they go to
   * `onUnhandled`.
   */
  custom?: CustomPayload<Custom, Context> | undefined;
  /**
   * Whether the issues of your schemas include their messages, in outcomes and in log lines; `false` by
   * default. The messages may quote the payload, which is personal data.
   */
  includeSchemaValues?: boolean | undefined;
  /**
   * Handles each verified delivery that has no other handler. As with `on`, the outcome is `handled`,
   * and the delivery is retried if this function throws. Without it, such a delivery is acknowledged as
   * `ignored`.
   */
  onUnhandled?: Handler<UnknownEvent | Record<string, unknown>, Context> | undefined;
  /**
   * A function, or a list of functions, that wraps each run of a handler. The first of a list is the
   * outermost. There is none by default.
   * @see Around
   */
  around?: Around | readonly Around[] | undefined;
  /**
   * The names of the seven fields that `context.call` reads, where they differ from the default ones.
   * @see FieldNames
   */
  fieldNames?: FieldNames | undefined;
}

/** Runs the handler of a route, if it has one, within `call-webhooks:handler`. */
export function runHandler(route: Route, context: HandlerContext): unknown {
  const { handle, event, eventName, callId, key } = route;
  if (!handle) return undefined;
  const message = (): HandlerMessage => {
    const { tenant, webhookId, attempt, source } = context;
    const ids = { webhookId, eventName, callId, key, ...(tenant !== undefined && { tenant }) };
    return { ...withRedactedIds(ids), attempt, source };
  };
  const failure = (error: unknown) => handlerFailed(error, route.sensitiveData);
  return traced('handler', message, () => handle(event, context), failure);
}

/** @param sensitiveData the content of the delivery, which is removed from the message */
export function handlerFailed(
  error: unknown,
  sensitiveData: DeliveryContent | undefined,
): WebhookError {
  const failure = redactedError('handler-failed', 'The handler failed: ', error, sensitiveData);
  return withOrigin(failure, { source: 'handler', error, sensitiveData });
}
