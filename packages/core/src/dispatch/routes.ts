import { eventKey } from '../events/event-key.ts';
import { eventChecks, eventSchemas } from '../events/events.ts';
import { parsePayload } from '../events/payload.ts';
import type { SchemaResult, StandardSchema } from '../events/standard-schema.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { scrubbedError } from '../privacy/scrubbed-error.ts';
import type { Handler, HandlerOptions } from './handlers.ts';

/** Where a payload goes, and what it is known by. */
export interface Route {
  readonly eventName: string | undefined;
  readonly callId: string | undefined;
  readonly key: string | undefined;
  /** Checked against its schema, where there is one. */
  readonly payload: unknown;
  /** What the delivery held, before and after its schema: to keep it out of the logs. */
  readonly personal: unknown;
  /** What a successful run is called. */
  readonly outcome: 'handled' | 'ignored';
  /** Absent: there is nobody to run. */
  readonly handle: Handler<unknown> | undefined;
}

/** The route of what is known by nothing and handled by nobody. */
export const NOWHERE: Omit<Route, 'payload' | 'personal'> = {
  eventName: undefined,
  callId: undefined,
  key: undefined,
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
   * Gives a promise only where a schema does.
   * @throws WebhookError `invalid-payload`: not JSON in UTF-8, or not the event's shape
   */
  find(rawBody: Uint8Array): Route | Promise<Route> {
    const parsed = parsePayload(rawBody);
    const eventName = isRecord(parsed) ? parsed['eventName'] : undefined;
    if (typeof eventName === 'string')
      return this.#event(eventName, parsed as Record<string, unknown>);
    if (this.#options.custom) return this.#custom(parsed, this.#options.custom);
    return { ...NOWHERE, payload: parsed, personal: parsed, handle: this.#unhandled };
  }

  #event(eventName: string, event: Record<string, unknown>): Route | Promise<Route> {
    const { events } = this.#options;
    const routed = (payload: unknown): Route => {
      const handle = this.#handlers.get(eventName);
      const key = eventKey(event);
      const { callId } = event;
      return {
        eventName,
        callId: typeof callId === 'string' ? callId : undefined,
        // An id that long tells nothing apart that we could remember.
        key: key !== undefined && key.length <= MAX_KEY_LENGTH ? key : undefined,
        payload,
        personal: payload === event ? event : [event, payload],
        outcome: handle ? 'handled' : 'ignored',
        handle: handle ?? this.#unhandled,
      };
    };
    if (isKnown(eventName)) {
      checkEvent(eventName, event);
      return routed(event); // the handler gets it untouched
    }
    const extra = events && Object.hasOwn(events, eventName) ? events[eventName] : undefined;
    return extra ? validated(extra, event).then(routed) : routed(event);
  }

  async #custom(parsed: unknown, custom: NonNullable<HandlerOptions['custom']>): Promise<Route> {
    const payload = await validated(custom.schema, parsed);
    const personal = [parsed, payload];
    const key = keyOf(custom, payload, personal);
    return {
      ...NOWHERE,
      // A name space of its own: no payload can pass for a call event.
      key: key === undefined ? undefined : `custom:${checkedKey(key)}`,
      payload,
      personal,
      outcome: 'handled',
      handle: custom.handle,
    };
  }

  get #unhandled() {
    return this.#options.onUnhandled as Handler<unknown> | undefined;
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

async function validated(schema: StandardSchema, value: unknown): Promise<unknown> {
  let result: SchemaResult<unknown>;
  try {
    result = await schema['~standard'].validate(value);
  } catch (error) {
    throw scrubbedError('invalid-payload', 'The schema failed: ', error, value);
  }
  if (!result.issues) return result.value;
  throw new WebhookError('invalid-payload', 'The payload does not fit its schema.');
}

function checkEvent(eventName: keyof typeof eventSchemas, event: unknown): void {
  const { error } = eventChecks[eventName].safeParse(event);
  if (!error) return;
  // The paths are names of our own schemas. The messages quote values.
  const paths = error.issues.slice(0, 5).map(({ path }) => path.map(String).join('.'));
  throw new WebhookError(
    'invalid-payload',
    `The payload does not fit its schema at: ${paths.join(', ')}.`,
  );
}

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
