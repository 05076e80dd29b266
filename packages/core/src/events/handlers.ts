import type { DeadLetterSink, DeadLetterStore } from '../dead-letters/dead-letter.ts';
import { withOrigin, type DeliveryContent, type WebhookError } from '../errors.ts';
import { CHANNELS, traced, type HandlerMessage } from '../report/channels.ts';
import { redactedError } from '../report/error-text.ts';
import { type Redact, withRedactedIds } from '../report/redact.ts';
import type { Logger } from '../report/logger.ts';
import type { ReportingHooks } from '../report/reporter.ts';
import type { Store } from '../store/store.ts';
import type { FieldNames } from './call-details.ts';
import type { HandlerContext } from './context.ts';
import type { CallEventMap, UnknownEvent } from './events.ts';
import type { Route } from './route.ts';
import type { OutputOf, StandardSchema } from './schema.ts';

/** Runs the handler, with the layers of `around` that are inside of this one. It runs once. */
export type Run = () => Promise<unknown>;

/**
 * Wraps each run of a handler: for spans, `AsyncLocalStorage`, a tenant's connection, timing.
 *
 * The attempt fails if the handler fails, even if the layer catches the error, if the layer itself
 * throws, and if it ends without having called `run`. It lasts until both have ended.
 * @example
 * around: (run, event, context) => storage.run({ key: context.key }, run)
 */
export type Around = (run: Run, event: unknown, context: HandlerContext) => unknown;

/** The handler within its layers; the first layer is the outermost. */
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
        if (handler.isRefused) throw new Error(`${NOT_CALLED} It is too late now.`);
        resolve(inner(event, context));
      });
      handler.running.catch(() => undefined); // it is awaited below
      return handler.running;
    };
    try {
      await layer(run, event, context);
      // Otherwise an event that nobody handled would be acknowledged.
      if (!handler.running) throw new Error(NOT_CALLED);
    } finally {
      handler.isRefused = true; // the event may run elsewhere by then
      // A layer that forgets to await the handler must not acknowledge the event before it has ended.
      await handler.running;
    }
  };

/** Schemas (zod, valibot, arktype …) of further events, by event name. */
export type ExtraEvents = Record<string, StandardSchema>;

/** The service's events and the extra ones, by name. */
export type EventsWith<Extra extends ExtraEvents> = CallEventMap & {
  [Name in keyof Extra]: OutputOf<Extra[Name]>;
};

/**
 * Handles one event. When it returns, or its promise resolves, the event is done. When it throws,
 * the service retries the event.
 */
export type Handler<Event, Context = HandlerContext> = (event: Event, context: Context) => unknown;

/** One handler for each event name. An unknown name does not compile, and throws at start-up. */
export type Handlers<Extra extends ExtraEvents = {}, Context = HandlerContext> = {
  [Name in keyof EventsWith<Extra>]?: Handler<EventsWith<Extra>[Name], Context> | undefined;
};

/**
 * Handlers in a file of their own: their events and contexts get their types as they do in the
 * options. `{ … } satisfies Handlers` does the same without a call.
 * @param _options `events` are the schemas of further events, as in the options of the receiver
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

/** For an action with a custom payload, whose body has no `eventName` (spec, "Call webhook body"). */
export interface CustomPayload<
  Schema extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> {
  /** Without a schema, the payload is passed on as it is and has the type `unknown`. */
  schema?: Schema | undefined;
  /** The idempotency key of a payload. Without one, each delivery of it is handled. */
  key?: ((payload: OutputOf<Schema>) => string | undefined) | undefined;
  handle: Handler<OutputOf<Schema>, Context>;
}

/** The options that a receiver and a queue's worker share. */
export interface HandlerOptions<
  Extra extends ExtraEvents = ExtraEvents,
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
> extends ReportingHooks {
  /** Your handlers by event name. */
  // NoInfer: otherwise a misspelt name would be taken for an extra event.
  on?: Handlers<NoInfer<Extra>, Context> | undefined;
  /** Schemas of events that this package does not know, by event name. */
  events?: Extra | undefined;
  /** The handler of custom payloads. */
  custom?: CustomPayload<Custom, Context> | undefined;
  /**
   * Whether the issues of your schemas have their messages, in log lines and outcomes as well;
   * `false` by default. They may quote the payload, which is personal data.
   */
  includeSchemaValues?: boolean | undefined;
  /** Called for each verified delivery without a handler. It is acknowledged unless this throws. */
  onUnhandled?: Handler<UnknownEvent | Record<string, unknown>, Context> | undefined;
  /**
   * Keeps events that failed `maxAttempts` times (jobs: `maxRuns` times), so that one bad event can't
   * pause the rule: a store of dead letters, or a function of yours.
   */
  deadLetter?: DeadLetterSink | DeadLetterStore | undefined;
  /** Wraps each run of a handler; the first of a list is the outermost. @see Around */
  around?: Around | readonly Around[] | undefined;
  /** What is removed from the texts of errors in log lines; `'standard'` by default. @see Redact */
  redact?: Redact | undefined;
  /** The names of the seven fields that the spec does not name, for `context.call`. */
  fieldNames?: FieldNames | undefined;
  /** Where log lines go; `console` by default. */
  logger?: Logger | undefined;
}

/** The checked options that a receiver and a worker share. Dead letters go to a function. */
export interface HandlerSettings extends Omit<HandlerOptions, 'deadLetter'> {
  readonly deadLetter?: DeadLetterSink | undefined;
  readonly fieldNames: FieldNames;
  readonly logger: Logger;
}

/** The context where, as the types say, the store or queue is in no database. */
export interface ContextWithoutCompleteIn extends HandlerContext {
  /** Compiles for no transaction, and throws. */
  completeIn(
    this: void,
    tx: 'completeIn needs postgresStore or sqliteStore, or their queues. Otherwise use context.key.',
  ): Promise<void>;
}

/** The context of a receiver with this store. */
export type ContextOf<S extends Store> = 'completeIn' extends keyof S
  ? [NonNullable<S['completeIn']>] extends [never]
    ? ContextWithoutCompleteIn
    : HandlerContext
  : ContextWithoutCompleteIn;

/** Runs the handler of a route, if it has one, within `call-webhooks:handler`. */
export function runHandler(route: Route, context: HandlerContext): unknown {
  const { handle, event, eventName, callId, key } = route;
  const channel = CHANNELS.handler;
  if (!handle || channel?.hasSubscribers !== true) return handle?.(event, context);
  const { tenant, webhookId, attempt, source } = context;
  const message: HandlerMessage = withRedactedIds({
    webhookId,
    eventName,
    callId,
    key,
    attempt,
    source,
    ...(tenant !== undefined && { tenant }),
  });
  const failure = (error: unknown) => handlerFailed(error, route.sensitiveData);
  return traced(channel, message, () => handle(event, context), failure);
}

/** @param sensitiveData the content of the delivery, which is removed from the message */
export function handlerFailed(
  error: unknown,
  sensitiveData: DeliveryContent | undefined,
): WebhookError {
  const failure = redactedError('handler-failed', 'The handler failed: ', error, sensitiveData);
  return withOrigin(failure, { source: 'handler', error, sensitiveData });
}
