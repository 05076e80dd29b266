import { type DeliveryContent, WebhookError, withOrigin } from '../errors.ts';
import { redactedError } from '../report/error-text.ts';
import { tenantKey } from '../store/keys.ts';
import type { FieldNames } from './call-details.ts';
import { eventKey, isKnownEvent, isRecord, parsePayload, typedEvent } from './events.ts';
import { type Handler, type HandlerOptions, wrapHandler } from './handlers.ts';
import { validate } from './schema.ts';

/** The handler of a payload, and how the payload is identified. */
export interface Route {
  readonly eventName: string | undefined;
  readonly callId: string | undefined;
  /** The idempotency key. */
  readonly key: string | undefined;
  /** Whether the key follows from the body alone: neither a schema nor a function of the user had a part in it. */
  readonly isKeyOfBody: boolean;
  /** The parsed body. */
  readonly body: unknown;
  /** What the handler gets. */
  readonly payload: unknown;
  /** The content of the delivery, before and after its schema: kept out of the logs. */
  readonly sensitiveData: DeliveryContent | undefined;
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
  isKeyOfBody: false,
  body: undefined,
  payload: undefined,
  sensitiveData: undefined,
  outcome: 'ignored',
  handle: undefined,
};

/** The route of an event of this tenant: other tenants' events never have its key. */
export const ofTenant = (route: Route, tenant: string | undefined): Route =>
  tenant === undefined || route.key === undefined
    ? route
    : { ...route, key: tenantKey(tenant, route.key) };

export const MAX_KEY_LENGTH = 4_000;

type RouteOptions = Omit<HandlerOptions, 'deadLetter'>;

/** Finds the handler of a raw body: by its event name, or as a custom payload. */
export class Routes {
  readonly #options: RouteOptions;
  readonly #fieldNames: FieldNames;
  readonly #handlers: Map<string, Handler<unknown>>;
  readonly #onUnhandled: Handler<unknown> | undefined;
  readonly #handleCustom: Handler<unknown> | undefined;

  constructor(options: RouteOptions, fieldNames: FieldNames = {}) {
    const { on = {}, onUnhandled, custom, around = [] } = options;
    const layers = typeof around === 'function' ? [around] : around;
    const wrapped = (handle: unknown) => wrapHandler(layers, handle as Handler<unknown>);
    this.#options = options;
    this.#fieldNames = fieldNames;
    this.#handlers = new Map(
      Object.entries(on).flatMap(([name, handle]) => (handle ? [[name, wrapped(handle)]] : [])),
    );
    this.#onUnhandled = onUnhandled && wrapped(onUnhandled);
    this.#handleCustom = custom && wrapped(custom.handle);
  }

  /**
   * Returns a promise only if a schema has to be awaited.
   * @throws WebhookError `invalid-payload`: the body is not JSON in UTF-8, or a payload that would be
   *   handled does not match your schema
   */
  find(rawBody: Uint8Array): Route | Promise<Route> {
    const body = parsePayload(rawBody);
    const eventName = isRecord(body) ? body['eventName'] : undefined;
    if (typeof eventName === 'string')
      return this.#eventRoute(eventName, body as Record<string, unknown>);
    if (this.#options.custom) return this.#customRoute(body, this.#options.custom);
    return {
      ...UNHANDLED_ROUTE,
      body,
      payload: body,
      sensitiveData: { body, fieldNames: this.#fieldNames },
      handle: this.#onUnhandled,
    };
  }

  #eventRoute(eventName: string, event: Record<string, unknown>): Route | Promise<Route> {
    const { events, includeSchemaValues = false } = this.#options;
    const fieldNames = this.#fieldNames;
    const handle = this.#handlers.get(eventName);
    const routeTo = (payload: unknown): Route => {
      const key = eventKey(event);
      const { callId } = event;
      return {
        eventName,
        callId: typeof callId === 'string' ? callId : undefined,
        // A longer key could not be remembered, so it identifies nothing.
        key: key !== undefined && key.length <= MAX_KEY_LENGTH ? key : undefined,
        isKeyOfBody: isKnownEvent(eventName),
        body: event,
        payload,
        sensitiveData: { body: event, payload, fieldNames },
        outcome: handle ? 'handled' : 'ignored',
        handle: handle ?? this.#onUnhandled,
      };
    };
    // What nobody handles is never refused.
    if (!handle) return routeTo(event);
    if (isKnownEvent(eventName)) {
      if (eventName === 'call:recording-available') checkIdentity(event);
      return routeTo(typedEvent(eventName, event));
    }
    const extra = events && Object.hasOwn(events, eventName) ? events[eventName] : undefined;
    if (!extra) return routeTo(event);
    return validate(extra, { body: event, fieldNames }, eventName, includeSchemaValues).then(
      routeTo,
    );
  }

  async #customRoute(body: unknown, custom: NonNullable<HandlerOptions['custom']>): Promise<Route> {
    const { includeSchemaValues = false } = this.#options;
    const fieldNames = this.#fieldNames;
    const payload = custom.schema
      ? await validate(custom.schema, { body, fieldNames }, undefined, includeSchemaValues)
      : body;
    const sensitiveData = { body, payload, fieldNames };
    const key = customKey(custom, payload, sensitiveData);
    return {
      ...UNHANDLED_ROUTE,
      // A namespace of its own, so that no payload can pass for a call event.
      key: key === undefined ? undefined : `custom:${checkedKey(key)}`,
      body,
      payload,
      sensitiveData,
      outcome: 'handled',
      handle: this.#handleCustom,
    };
  }
}

/** A recording that names neither itself nor its call cannot be used for anything. An id of another
 * type is accepted: the handler has it in `context.body`. */
function checkIdentity({ eventName, eventId, callId }: Record<string, unknown>): void {
  if ([eventId, callId].some((id) => id !== undefined && id !== null && id !== '')) return;
  throw new WebhookError('invalid-payload', 'The event has neither an eventId nor a callId.', {
    eventName: eventName as string,
  });
}

function customKey(
  { key }: NonNullable<HandlerOptions['custom']>,
  payload: unknown,
  sensitiveData: DeliveryContent,
): string | undefined {
  try {
    return key?.(payload);
  } catch (error) {
    const failure = redactedError('invalid-payload', 'custom.key failed: ', error, sensitiveData);
    throw withOrigin(failure, { source: 'hook', error, sensitiveData });
  }
}

function checkedKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  throw new WebhookError(
    'invalid-payload',
    `The idempotency key must be a text of 1 to ${String(MAX_KEY_LENGTH)} characters.`,
  );
}

/** What `oneAtATime` groups by: the payload that the handler gets. */
export interface GroupedEvent {
  eventName?: string | undefined;
  callId?: string | null | undefined;
  [field: string]: unknown;
}

/** `true` groups by `callId`. A function gives an event's group, or nothing for an event of no group. */
export type OneAtATime = true | ((event: GroupedEvent) => string | null | undefined);

/**
 * The group of an event that has a handler.
 * @throws WebhookError `invalid-payload` if the user's function throws or gives no usable text
 */
export function groupOf(
  oneAtATime: OneAtATime | undefined,
  { handle, callId, payload, sensitiveData }: Route,
): string | undefined {
  if (oneAtATime === undefined || !handle) return undefined;
  // What is too long for a key or empty identifies no call.
  if (oneAtATime === true) return isUsable(callId) ? callId : undefined;
  let group: unknown;
  try {
    group = oneAtATime(payload as GroupedEvent);
  } catch (error) {
    const failure = redactedError('invalid-payload', 'oneAtATime failed: ', error, sensitiveData);
    throw withOrigin(failure, { source: 'hook', error, sensitiveData });
  }
  if (group === undefined || group === null) return undefined;
  if (isUsable(group)) return group;
  throw new WebhookError(
    'invalid-payload',
    `oneAtATime must return a text of 1 to ${String(MAX_KEY_LENGTH)} characters, or undefined.`,
  );
}

const isUsable = (group: unknown): group is string =>
  typeof group === 'string' && group !== '' && group.length <= MAX_KEY_LENGTH;
