import type { Handler, Route } from '../delivery.ts';
import { type DeliveryContent, docsUrl, WebhookError, withOrigin } from '../errors.ts';
import { redactedError } from '../report/error-text.ts';
import { settle } from '../report/hooks.ts';
import { type Logger, safeLogger } from '../report/logger.ts';
import { copyOf } from '../report/delivered.ts';
import { tenantKey } from '../store/keys.ts';
import type { FieldNames } from './call-details.ts';
import {
  eventKey,
  isIdentifying,
  isKnownEvent,
  isRecord,
  MAX_KEY_LENGTH,
  parsePayload,
  typedEvent,
} from './events.ts';
import { FieldCheck } from './field-check.ts';
import { type RouteOptions, wrapHandler } from './handlers.ts';
import { namedHandlers } from './named.ts';
import { type StandardSchema, validate } from './schema.ts';

/** The route of a payload that is not identified and has no handler. */
export const UNIDENTIFIED: Route = {
  eventName: undefined,
  callId: undefined,
  key: undefined,
  body: undefined,
  event: undefined,
  sensitiveData: undefined,
  outcome: 'ignored',
  handle: undefined,
};

interface RouteSettings extends RouteOptions {
  readonly fieldNames: FieldNames;
  readonly logger: Logger;
}

/** Finds the handler of a raw body: by its event name, or as a custom payload. */
export class Routes {
  readonly fieldCheck: FieldCheck;
  readonly #settings: RouteSettings;
  readonly #handlers = new Map<string, Handler<unknown>>();
  readonly #schemas: ReadonlyMap<string, StandardSchema>;
  readonly #onUnhandled: Handler<unknown> | undefined;
  readonly #handleCustom: Handler<unknown> | undefined;
  #hasWarned = false;

  /** @throws WebhookError `invalid-options` for handlers that no event could reach */
  constructor(settings: RouteSettings) {
    const { onUnhandled, custom, around = [] } = settings;
    const { handlers, schemas } = namedHandlers(settings);
    const layers = typeof around === 'function' ? [around] : around;
    const wrapped = (handle: unknown) => wrapHandler(layers, handle as Handler<unknown>);
    this.#settings = settings;
    this.fieldCheck = new FieldCheck(settings.fieldNames, settings.logger);
    for (const [name, handle] of handlers) this.#handlers.set(name, wrapped(handle));
    this.#schemas = schemas;
    this.#onUnhandled = onUnhandled && wrapped(onUnhandled);
    this.#handleCustom = custom && wrapped(custom.handle);
  }

  /**
   * @param tenant whose event it is: other tenants' events never have its key
   * @throws WebhookError `invalid-payload`: the body is not JSON in UTF-8, or a payload that would be
   *   handled does not match your schema
   */
  find(rawBody: Uint8Array, tenant: string | undefined): Route | Promise<Route> {
    const body = parsePayload(rawBody);
    const content = { rawBody, fieldNames: this.#settings.fieldNames };
    const eventName = isRecord(body) ? body['eventName'] : undefined;
    if (typeof eventName === 'string') {
      const fields = body as Record<string, unknown>;
      const schema = this.#schemaOf(eventName);
      return schema
        ? this.#validatedRoute(eventName, fields, schema, tenant, content)
        : this.#eventRoute(eventName, fields, this.#typed(eventName, fields), tenant, content);
    }
    const { custom } = this.#settings;
    if (custom) return this.#customRoute(body, custom, tenant, content);
    const handle = this.#onUnhandled;
    const outcome = handle ? 'handled' : 'ignored';
    return { ...UNIDENTIFIED, body, event: body, sensitiveData: content, outcome, handle };
  }

  /** The user's schema of an event that has a handler: what nobody handles is never refused. */
  #schemaOf(eventName: string): StandardSchema | undefined {
    return this.#handlers.has(eventName) ? this.#schemas.get(eventName) : undefined;
  }

  async #validatedRoute(
    eventName: string,
    body: Record<string, unknown>,
    schema: StandardSchema,
    tenant: string | undefined,
    content: DeliveryContent,
  ): Promise<Route> {
    const { includeSchemaValues = false } = this.#settings;
    const event = await validate(schema, body, content, eventName, includeSchemaValues);
    const sensitiveData = { ...content, made: copyOf(event) };
    return this.#eventRoute(eventName, body, event, tenant, sensitiveData);
  }

  /** An event of the service as its type promises it, any other as it is. */
  #typed(eventName: string, event: Record<string, unknown>): Record<string, unknown> {
    if (!this.#handlers.has(eventName) || !isKnownEvent(eventName)) return event;
    if (eventName === 'call:recording-available') checkIdentity(event);
    else this.fieldCheck.check(eventName, event);
    return typedEvent(eventName, event);
  }

  #eventRoute(
    eventName: string,
    body: Record<string, unknown>,
    event: unknown,
    tenant: string | undefined,
    sensitiveData: DeliveryContent,
  ): Route {
    const handle = this.#handlers.get(eventName) ?? this.#onUnhandled;
    const { callId } = body;
    const key = eventKey(body);
    return {
      eventName,
      callId: typeof callId === 'string' ? callId : undefined,
      key: key === undefined ? undefined : tenantKey(tenant, key),
      body,
      event,
      sensitiveData,
      outcome: handle ? 'handled' : 'ignored',
      handle,
    };
  }

  async #customRoute(
    body: unknown,
    { schema, key }: NonNullable<RouteOptions['custom']>,
    tenant: string | undefined,
    content: DeliveryContent,
  ): Promise<Route> {
    const { includeSchemaValues = false } = this.#settings;
    const event = schema
      ? await validate(schema, body, content, undefined, includeSchemaValues)
      : body;
    const sensitiveData = schema ? { ...content, made: copyOf(event) } : content;
    const found = key && textOf('custom.key', () => key(event), sensitiveData);
    if (found !== undefined) this.#checkRounded(found, body);
    return {
      ...UNIDENTIFIED,
      key: found === undefined ? undefined : tenantKey(tenant, `custom:${found}`),
      body,
      event,
      sensitiveData,
      outcome: 'handled',
      handle: this.#handleCustom,
    };
  }

  /** Warns, once, of a key with a number that `JSON.parse` has rounded: another event may have the same. */
  #checkRounded(key: string, body: unknown): void {
    if (this.#hasWarned || !LARGE_NUMBER.test(key) || !hasRounded(body, key)) return;
    this.#hasWarned = true;
    safeLogger(this.#settings.logger).warn(
      { docs: docsUrl('wire-contract.md#event-keys') },
      'call-webhooks: custom.key returned a number above 2^53. JavaScript rounds such numbers, so two events may have one key, and the second would count as a duplicate. Put the id in quotes in the custom payload.',
    );
  }
}

/**
 * A recording that names neither itself nor its call cannot be used for anything. An id of another
 * type is accepted: the handler has it in `context.body`.
 */
function checkIdentity({ eventName, eventId, callId }: Record<string, unknown>): void {
  if ([eventId, callId].some((id) => id !== undefined && id !== null && id !== '')) return;
  throw new WebhookError('invalid-payload', 'The event has neither an eventId nor a callId.', {
    eventName: eventName as string,
  });
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
  { handle, callId, event, sensitiveData }: Route,
  tenant: string | undefined,
): string | undefined {
  if (oneAtATime === undefined || !handle) return undefined;
  const group =
    oneAtATime === true
      ? usable(callId) // What is too long for a key or empty identifies no call.
      : textOf('oneAtATime', () => oneAtATime(event as GroupedEvent), sensitiveData);
  return group === undefined ? undefined : tenantKey(tenant, group);
}

/**
 * What a function of the user returns: a text, or nothing.
 * @throws WebhookError `invalid-payload`
 */
function textOf(
  option: string,
  call: () => unknown,
  sensitiveData: DeliveryContent | undefined,
): string | undefined {
  let text: unknown;
  try {
    text = call();
  } catch (error) {
    const failure = redactedError('invalid-payload', `${option} failed: `, error, sensitiveData);
    throw withOrigin(failure, { source: 'hook', error, sensitiveData });
  }
  if (text === undefined || text === null) return undefined;
  const found = usable(text);
  if (found !== undefined) return found;
  void settle(text, () => undefined); // a promise that rejects must not end the process
  throw new WebhookError(
    'invalid-payload',
    `${option} must return a text of 1 to ${String(MAX_KEY_LENGTH)} characters at once, or undefined.`,
  );
}

const usable = (text: unknown): string | undefined => (isIdentifying(text) ? text : undefined);

/** 2^53 has 16 digits. From 10^21 on, a number is written as `1e+21`. */
const LARGE_NUMBER = /\d{16}|e\+\d/;

/** So many numbers of a body are compared with its key: an id stands near the beginning. */
const MAX_COMPARED = 1_000;

/** Whether a rounded number is part of the key. A parsed body is at most 64 levels deep. */
function hasRounded(body: unknown, key: string): boolean {
  let left = MAX_COMPARED;
  const isPart = (value: unknown): boolean => {
    if (left <= 0) return false;
    if (typeof value === 'number')
      return Math.abs(value) > Number.MAX_SAFE_INTEGER && left-- > 0 && key.includes(String(value));
    if (typeof value !== 'object' || value === null) return false;
    return Object.values(value).some(isPart);
  };
  return isPart(body);
}
