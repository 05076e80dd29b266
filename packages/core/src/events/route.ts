import type { Handler, Route } from '../delivery.ts';
import { type DeliveryContent, docsUrl, originsOf, WebhookError, withOrigin } from '../errors.ts';
import { redactedError } from '../report/error-text.ts';
import { discard } from '../report/hooks.ts';
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
import { type SchemaIssue, type StandardSchema, validate } from './schema.ts';

/** The route of a payload that is not identified and has no handler. */
const UNIDENTIFIED: Route = {
  eventName: undefined,
  callId: undefined,
  key: undefined,
  body: undefined,
  event: undefined,
  sensitiveData: undefined,
  outcome: 'ignored',
  handle: undefined,
};

/** The route of an event that has a name. */
interface EventRoute extends Route {
  readonly eventName: string;
  readonly body: Record<string, unknown>;
}

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
   * Identifies a payload, and then checks it. One that can never be handled is identified as well, so
   * that all deliveries of its event are recognized as one: its route has the reason in `invalid`.
   * @param tenant the tenant of the event: another tenant's events never have its key
   */
  find(rawBody: Uint8Array, tenant: string | undefined): Route | Promise<Route> {
    let body: unknown;
    try {
      body = parsePayload(rawBody);
    } catch (error) {
      return { ...UNIDENTIFIED, invalid: invalidPayload(error) };
    }
    const { custom, fieldNames } = this.#settings;
    const content = { rawBody, fieldNames };
    const eventName = isRecord(body) ? body['eventName'] : undefined;
    if (typeof eventName === 'string')
      return this.#checked(
        this.#eventRoute(eventName, body as Record<string, unknown>, tenant, content),
        content,
      );
    if (custom) return this.#customRoute(body, custom, tenant, content);
    const handle = this.#onUnhandled;
    const outcome = handle ? 'handled' : 'ignored';
    return { ...UNIDENTIFIED, body, event: body, sensitiveData: content, outcome, handle };
  }

  #eventRoute(
    eventName: string,
    body: Record<string, unknown>,
    tenant: string | undefined,
    sensitiveData: DeliveryContent,
  ): EventRoute {
    const handle = this.#handlers.get(eventName) ?? this.#onUnhandled;
    const { callId } = body;
    const key = eventKey(body);
    return {
      eventName,
      callId: typeof callId === 'string' ? callId : undefined,
      key: key === undefined ? undefined : tenantKey(tenant, key),
      body,
      event: body,
      sensitiveData,
      outcome: handle ? 'handled' : 'ignored',
      handle,
    };
  }

  /**
   * The event in the form that its schema or its type promises. An event without a handler is never
   * refused.
   */
  #checked(route: EventRoute, content: DeliveryContent): Route | Promise<Route> {
    const { eventName, body } = route;
    if (!this.#handlers.has(eventName)) return route;
    const schema = this.#schemas.get(eventName);
    if (schema) return this.#validated(route, schema, content);
    if (!isKnownEvent(eventName)) return route;
    const invalid = eventName === 'call:recording-available' ? checkIdentity(body) : undefined;
    if (invalid) return { ...route, invalid };
    if (eventName !== 'call:recording-available') this.fieldCheck.check(eventName, body);
    const event = typedEvent(eventName, body);
    return event === body ? route : { ...route, event };
  }

  async #validated(route: Route, schema: StandardSchema, content: DeliveryContent): Promise<Route> {
    const { eventName, body } = route;
    const { includeSchemaValues = false } = this.#settings;
    try {
      const event = await validate(schema, body, content, eventName, includeSchemaValues);
      return { ...route, event, sensitiveData: { ...content, made: copyOf(event) } };
    } catch (error) {
      return { ...route, invalid: invalidPayload(error) };
    }
  }

  async #customRoute(
    body: unknown,
    { schema, key }: NonNullable<RouteOptions['custom']>,
    tenant: string | undefined,
    content: DeliveryContent,
  ): Promise<Route> {
    const unchecked: Route = {
      ...UNIDENTIFIED,
      body,
      event: body,
      sensitiveData: content,
      outcome: 'handled',
      handle: this.#handleCustom,
    };
    const route = schema ? await this.#validated(unchecked, schema, content) : unchecked;
    const withKey = (found: string | undefined): Route =>
      found === undefined ? route : { ...route, key: tenantKey(tenant, `custom:${found}`) };
    if (!key) return route;
    if (route.invalid) return withKey(keyOfRefused(key, body, route.invalid));
    try {
      const found = textOf('custom.key', () => key(route.event), route.sensitiveData);
      if (found !== undefined) this.#checkRounded(found, body);
      return withKey(found);
    } catch (error) {
      return { ...route, invalid: invalidPayload(error) };
    }
  }

  /**
   * Warns once about a key with a number that `JSON.parse` has rounded: another event may have the same
   * key.
   */
  #checkRounded(key: string, body: unknown): void {
    if (this.#hasWarned || !LARGE_NUMBER.test(key) || !hasRounded(body, key)) return;
    this.#hasWarned = true;
    safeLogger(this.#settings.logger).warn(
      { docs: docsUrl('wire-contract.md#event-keys') },
      'call-webhooks: custom.key returned a number above 2^53. JavaScript rounds such numbers, so two events may have the same key, and the second would be treated as a duplicate. Put the id in quotes in the custom payload.',
    );
  }
}

/**
 * A recording event with neither an `eventId` nor a `callId` cannot be used for anything. An id of
 * another type is accepted: the handler finds it in `context.body`.
 */
function checkIdentity({
  eventName,
  eventId,
  callId,
}: Record<string, unknown>): WebhookError | undefined {
  if ([eventId, callId].some((id) => id !== undefined && id !== null && id !== ''))
    return undefined;
  const message = 'The event has neither an eventId nor a callId.';
  return new WebhookError('invalid-payload', message, { eventName: eventName as string });
}

/** @throws every error that is not about the payload */
function invalidPayload(error: unknown): WebhookError {
  if (error instanceof WebhookError && error.code === 'invalid-payload') return error;
  throw error;
}

/** What the function `oneAtATime` gets: the payload as the handler gets it. */
export interface GroupedEvent {
  eventName?: string | undefined;
  callId?: string | null | undefined;
  [field: string]: unknown;
}

/**
 * How events are grouped, for groups whose events run one at a time. `true` groups them by `callId`. A
 * function returns the group of an event as a string, or `undefined` for an event that may always run.
 * @example
 * oneAtATime: ({ customerId }) => String(customerId)
 */
export type OneAtATime = true | ((event: GroupedEvent) => string | null | undefined);

/**
 * The group of an event that has a handler and can be handled.
 * @throws WebhookError `invalid-payload` if the user's function throws or does not return a usable
 *   string
 */
export function groupOf(
  oneAtATime: OneAtATime | undefined,
  { handle, callId, event, invalid, sensitiveData }: Route,
  tenant: string | undefined,
): string | undefined {
  if (oneAtATime === undefined || !handle || invalid) return undefined;
  const group =
    oneAtATime === true
      ? usable(callId) // An id that is empty or too long for a key identifies no call.
      : textOf('oneAtATime', () => oneAtATime(event as GroupedEvent), sensitiveData);
  return group === undefined ? undefined : tenantKey(tenant, group);
}

/**
 * What the user's function returns: a string, or nothing.
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
  discard(text);
  throw new WebhookError(
    'invalid-payload',
    `${option} must return a string of 1 to ${String(MAX_KEY_LENGTH)} characters, or undefined, and not a promise.`,
  );
}

/**
 * The key of a payload that its schema refused: only if the schema found nothing wrong with the fields
 * that `key` reads. A key of missing or wrong fields could be that of many payloads, and all but the
 * first would be lost.
 */
function keyOfRefused(
  key: (payload: never) => unknown,
  body: unknown,
  invalid: WebhookError,
): string | undefined {
  const refused = refusedPaths(invalid);
  let isSure = refused !== undefined;
  const read = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (!isSure) return value;
    if (typeof value === 'object' && value !== null)
      return new Proxy(value, {
        get(target, name) {
          if (Object.hasOwn(target, name)) return read(Reflect.get(target, name), [...path, name]);
          isSure = false;
          return Reflect.get(target, name) as unknown;
        },
      });
    const isWrong = refused?.some((wrong) => wrong.every((name, at) => name === path[at]));
    if (isWrong === true || (value !== 0 && !value)) isSure = false;
    return value;
  };
  try {
    const text = key(read(body, []) as never);
    discard(text);
    return isSure ? usable(text) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The maximum number of issues that are compared with the fields of a key: with more, the payload has
 * no key.
 */
const MAX_REFUSED = 100;

/**
 * The paths of a schema's issues; `undefined` if it threw instead of reporting them, or has too many.
 */
function refusedPaths(invalid: WebhookError): string[][] | undefined {
  const [origin] = originsOf(invalid);
  const issues = origin?.error instanceof WebhookError ? origin.error.cause : undefined;
  if (!Array.isArray(issues) || issues.length > MAX_REFUSED) return undefined;
  return (issues as SchemaIssue[]).map(({ path = [] }) =>
    path.map((part) => String(typeof part === 'object' ? part.key : part)),
  );
}

const usable = (text: unknown): string | undefined => (isIdentifying(text) ? text : undefined);

/** 2^53 has 16 digits. From 10^21 on, a number is written as `1e+21`. */
const LARGE_NUMBER = /\d{16}|e\+\d/;

/**
 * The maximum number of numbers in a body that are compared with its key: an id is usually near the
 * beginning.
 */
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
