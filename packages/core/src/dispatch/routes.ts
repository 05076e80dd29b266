import { eventChecks, eventKey, eventSchemas } from '../events/events.ts';
import { parsePayload } from '../events/payload.ts';
import type { SchemaResult, StandardSchema } from '../events/schema.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { redactedError } from '../redact.ts';
import type { Handler, HandlerOptions } from './handlers.ts';

/** The handler of a payload, and how the payload is identified. */
export interface Route {
  readonly eventName: string | undefined;
  readonly callId: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
  /** What the handler gets. */
  readonly payload: unknown;
  /** The content of the delivery, before and after its schema: kept out of the logs. */
  readonly sensitiveData: unknown;
  /** The outcome of a successful run. */
  readonly outcome: 'handled' | 'ignored';
  /** Absent if there is no handler. */
  readonly handle: Handler<unknown> | undefined;
}

/** The route of a payload that is not identified and has no handler. */
export const UNHANDLED_ROUTE: Route = {
  eventName: undefined,
  callId: undefined,
  key: undefined,
  payload: undefined,
  sensitiveData: undefined,
  outcome: 'ignored',
  handle: undefined,
};

const MAX_KEY_LENGTH = 4_000;

/** Finds the handler of a raw body: by its event name, or as a custom payload. */
export class Routes {
  readonly #options: HandlerOptions;
  readonly #handlers: Map<string, Handler<unknown>>;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#handlers = new Map(Object.entries(options.on ?? {}) as [string, Handler<unknown>][]);
  }

  /**
   * Returns a promise only if a schema has to be awaited.
   * @throws WebhookError `invalid-payload`: not JSON in UTF-8, or not the shape of the event
   */
  find(rawBody: Uint8Array): Route | Promise<Route> {
    const parsed = parsePayload(rawBody);
    const eventName = isRecord(parsed) ? parsed['eventName'] : undefined;
    if (typeof eventName === 'string')
      return this.#eventRoute(eventName, parsed as Record<string, unknown>);
    if (this.#options.custom) return this.#customRoute(parsed, this.#options.custom);
    return {
      ...UNHANDLED_ROUTE,
      payload: parsed,
      sensitiveData: parsed,
      handle: this.#onUnhandled,
    };
  }

  #eventRoute(eventName: string, event: Record<string, unknown>): Route | Promise<Route> {
    const { events } = this.#options;
    const routeTo = (payload: unknown): Route => {
      const handle = this.#handlers.get(eventName);
      const key = eventKey(event);
      const { callId } = event;
      return {
        eventName,
        callId: typeof callId === 'string' ? callId : undefined,
        // A longer key could not be remembered, so it identifies nothing.
        key: key !== undefined && key.length <= MAX_KEY_LENGTH ? key : undefined,
        payload,
        sensitiveData: payload === event ? event : [event, payload],
        outcome: handle ? 'handled' : 'ignored',
        handle: handle ?? this.#onUnhandled,
      };
    };
    if (isKnown(eventName)) {
      checkEvent(eventName, event);
      return routeTo(event); // the handler gets it unchanged
    }
    const extra = events && Object.hasOwn(events, eventName) ? events[eventName] : undefined;
    return extra ? validated(extra, event).then(routeTo) : routeTo(event);
  }

  async #customRoute(
    parsed: unknown,
    custom: NonNullable<HandlerOptions['custom']>,
  ): Promise<Route> {
    const payload = await validated(custom.schema, parsed);
    const sensitiveData = [parsed, payload];
    const key = customKey(custom, payload, sensitiveData);
    return {
      ...UNHANDLED_ROUTE,
      // A namespace of its own, so that no payload can pass for a call event.
      key: key === undefined ? undefined : `custom:${checkedKey(key)}`,
      payload,
      sensitiveData,
      outcome: 'handled',
      handle: custom.handle,
    };
  }

  get #onUnhandled() {
    return this.#options.onUnhandled as Handler<unknown> | undefined;
  }
}

function customKey(
  { key }: NonNullable<HandlerOptions['custom']>,
  payload: unknown,
  sensitiveData: unknown,
): string | undefined {
  try {
    return key?.(payload);
  } catch (error) {
    throw redactedError('invalid-payload', 'custom.key failed: ', error, sensitiveData);
  }
}

async function validated(schema: StandardSchema, value: unknown): Promise<unknown> {
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    throw redactedError('invalid-payload', 'The schema failed: ', error, value);
  }
  if (!result.issues) return result.value;
  throw new WebhookError('invalid-payload', 'The payload does not match its schema.');
}

function checkEvent(eventName: keyof typeof eventSchemas, event: unknown): void {
  const { error } = eventChecks[eventName].safeParse(event);
  if (!error) return;
  // The paths are names of our own schemas. The messages quote values.
  const paths = error.issues.slice(0, 5).map(({ path }) => path.map(String).join('.'));
  throw new WebhookError(
    'invalid-payload',
    `The payload does not match its schema at: ${paths.join(', ')}.`,
  );
}

function checkedKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new WebhookError(
    'invalid-payload',
    `The idempotency key must be a text of 1 to ${String(MAX_KEY_LENGTH)} characters.`,
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isKnown = (name: string): name is keyof typeof eventSchemas =>
  Object.hasOwn(eventSchemas, name);
