import type { CallEventMap, UnknownEvent } from '../events/events.ts';
import type { OutputOf, StandardSchema } from '../events/schema.ts';
import type { Redact } from '../redact/redactor.ts';
import type { ReportingHooks } from '../reporting/hooks.ts';
import type { DeadLetterSink, DeadLetterStore } from '../store/dead-letter.ts';
import type { Around } from './around.ts';
import type { HandlerContext } from './context.ts';

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
   * Whether the issues of your schemas may quote values of the payload in log lines and outcomes;
   * `false` by default. They are personal data.
   */
  includeSchemaValues?: boolean | undefined;
  /** Called for each verified delivery without a handler. It is acknowledged unless this throws. */
  onUnhandled?: Handler<UnknownEvent | Record<string, unknown>, Context> | undefined;
  /**
   * Keeps events that failed `maxAttempts` times, so one bad event can't pause the rule: a store of
   * dead letters, or a function of yours. Without it they are answered 500 (or 422) until the service
   * pauses the rule.
   */
  deadLetter?: DeadLetterSink | DeadLetterStore | undefined;
  /**
   * Wraps each run of a handler: one function, or a list whose first is the outermost.
   * @see Around
   */
  around?: Around | readonly Around[] | undefined;
  /**
   * What is removed from the texts of errors in log lines; `'standard'` by default.
   * @see Redact
   */
  redact?: Redact | undefined;
}

/** The options as the receiver uses them: dead letters go to a function. */
export interface CheckedHandlerOptions extends Omit<HandlerOptions, 'deadLetter'> {
  deadLetter?: DeadLetterSink | undefined;
}
