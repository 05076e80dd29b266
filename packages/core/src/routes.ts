import { eventKey } from './event-key.ts';
import { eventSchemas } from './events.ts';
import type { Handler, HandlerOptions } from './handlers.ts';
import { parsePayload } from './payload.ts';
import { scrubbedError } from './scrubbed-error.ts';
import type { SchemaIssue, SchemaResult, StandardSchema } from './standard-schema.ts';
import { WebhookError } from './webhook-error.ts';

/** Where a payload goes, and what it is known by. */
export interface Route {
  readonly eventName?: string;
  readonly callId?: string;
  readonly key?: string;
  /** Checked against its schema, where there is one. */
  readonly payload: unknown;
  /** What the delivery held, before and after its schema: to keep it out of the logs. */
  readonly personal: unknown;
  /** What a successful run is called. */
  readonly outcome: 'handled' | 'ignored';
  /** Absent: there is nobody to run. */
  readonly handle?: Handler<unknown>;
}

const MAX_KEY_LENGTH = 4_000;

/** Finds the handler of a raw body: by its event name, or as a custom payload. */
export class Routes {
  readonly #options: HandlerOptions;
  readonly #handlers: Map<string, Handler<unknown>>;

  constructor(options: HandlerOptions) {
    this.#options = options;
    this.#handlers = new Map(Object.entries(options.on ?? {}) as [string, Handler<unknown>][]);
  }

  /** @throws WebhookError `invalid-payload`: not JSON in UTF-8, or not the event's shape */
  async find(rawBody: Uint8Array): Promise<Route> {
    const parsed = parsePayload(rawBody);
    const eventName = isRecord(parsed) ? parsed['eventName'] : undefined;
    if (typeof eventName === 'string')
      return this.#event(eventName, parsed as Record<string, unknown>);
    if (this.#options.custom) return this.#custom(parsed, this.#options.custom);
    return { payload: parsed, personal: parsed, ...this.#unhandled() };
  }

  async #event(eventName: string, event: Record<string, unknown>): Promise<Route> {
    const { events } = this.#options;
    const extra = events && Object.hasOwn(events, eventName) ? events[eventName] : undefined;
    let payload: unknown = event;
    if (isKnown(eventName))
      await validated(eventSchemas[eventName], event, true); // the handler gets it untouched
    else if (extra) payload = await validated(extra, event);

    const handle = this.#handlers.get(eventName);
    const key = eventKey(event);
    const { callId } = event;
    return {
      eventName,
      payload,
      personal: payload === event ? event : [event, payload],
      ...(typeof callId === 'string' && { callId }),
      // An id that long tells nothing apart that we could remember.
      ...(key !== undefined && key.length <= MAX_KEY_LENGTH && { key }),
      ...(handle ? { outcome: 'handled', handle } : this.#unhandled()),
    };
  }

  async #custom(parsed: unknown, custom: NonNullable<HandlerOptions['custom']>): Promise<Route> {
    const payload = await validated(custom.schema, parsed);
    const personal = [parsed, payload];
    const key = keyOf(custom, payload, personal);
    return {
      payload,
      personal,
      outcome: 'handled',
      handle: custom.handle,
      // A name space of its own: no payload can pass for a call event.
      ...(key !== undefined && { key: `custom:${checkedKey(key)}` }),
    };
  }

  #unhandled(): Pick<Route, 'outcome' | 'handle'> {
    const handle = this.#options.onUnhandled;
    return { outcome: 'ignored', ...(handle && { handle: handle as Handler<unknown> }) };
  }
}

function keyOf(
  { key }: NonNullable<HandlerOptions['custom']>,
  payload: unknown,
  personal: unknown,
): string | undefined {
  try {
    return key?.(payload);
  } catch (error) {
    throw scrubbedError('invalid-payload', 'custom.key failed: ', error, personal);
  }
}

async function validated(schema: StandardSchema, value: unknown, known = false): Promise<unknown> {
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    throw scrubbedError('invalid-payload', 'The schema failed: ', error, value);
  }
  if (!result.issues) return result.value;
  throw new WebhookError(
    'invalid-payload',
    `The payload does not fit its schema${known ? ` at: ${pathsOf(result.issues)}` : ''}.`,
  );
}

/** For our own schemas only: messages quote values, and the keys of a user's record may be names. */
const pathsOf = (issues: readonly SchemaIssue[]) =>
  issues
    .slice(0, 5)
    .map(({ path = [] }) => path.map(String).join('.'))
    .join(', ');

function checkedKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new WebhookError(
    'invalid-payload',
    `The idempotency key is not a text of 1 to ${String(MAX_KEY_LENGTH)} characters.`,
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isKnown = (name: string): name is keyof typeof eventSchemas =>
  Object.hasOwn(eventSchemas, name);
