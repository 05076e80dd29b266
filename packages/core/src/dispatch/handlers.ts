import type { CallEventMap, UnknownEvent } from '../events/events.ts';
import type { OutputOf, StandardSchema } from '../events/standard-schema.ts';
import type { HandlerContext } from './context.ts';

/** Extra typed events: schemas (zod, valibot, arktype …) by event name. */
export type ExtraEvents = Record<string, StandardSchema>;

/** The service's events and the extra ones, by name. */
export type EventsWith<Extra extends ExtraEvents> = CallEventMap & {
  [Name in keyof Extra]: OutputOf<Extra[Name]>;
};

/** A handler. When it returns, or its promise resolves, the event is done; when it throws, it is retried. */
export type Handler<Event> = (event: Event, context: HandlerContext) => unknown;

/** One handler an event name; a name that is no event does not compile, and throws at start-up. */
export type Handlers<Extra extends ExtraEvents> = {
  [Name in keyof EventsWith<Extra>]?: Handler<EventsWith<Extra>[Name]> | undefined;
};

/** For an action with a custom payload: its body has no `eventName` (spec, "Call webhook body"). */
export interface CustomPayload<Schema extends StandardSchema = StandardSchema> {
  schema: Schema;
  /** The idempotency key of a payload. Without one it is handled every time it arrives. */
  key?: ((payload: OutputOf<Schema>) => string | undefined) | undefined;
  handle: Handler<OutputOf<Schema>>;
}

/** A delivery that is given up on, with all that is needed to handle it by hand. */
export interface DeadLetter {
  reason: 'handler-failed' | 'invalid-payload';
  /** The raw body, byte for byte: personal data may be in it. */
  rawBody: Uint8Array;
  webhookId: string;
  /** When the last attempt was signed. */
  timestamp: Date;
  eventName?: string;
  key?: string;
  attempt: number;
  /** What the handler threw, as it was thrown, or a `WebhookError`. Personal data may be in it. */
  error: unknown;
}

/** Takes parked deliveries. Once it resolves the delivery is acknowledged, so it must be kept by then. */
export type DeadLetterSink = (parked: DeadLetter) => unknown;

/** What a receiver and a queue's worker share: which events there are and what runs for them. */
export interface HandlerOptions<
  Extra extends ExtraEvents = ExtraEvents,
  Custom extends StandardSchema = StandardSchema,
> {
  // NoInfer: else a misspelt name would be taken for an extra event.
  on?: Handlers<NoInfer<Extra>> | undefined;
  /** Schemas of events that this package does not know. */
  events?: Extra | undefined;
  custom?: CustomPayload<Custom> | undefined;
  /** Runs for a verified delivery that nothing else handles; acknowledged unless it throws. */
  onUnhandled?: Handler<UnknownEvent | Record<string, unknown>> | undefined;
  /** Without it a delivery that always fails is answered 500 (or 422) until the rule is paused. */
  deadLetter?: DeadLetterSink | undefined;
}
