import * as z from 'zod/mini';
import { WebhookError, withOrigin } from '../errors.ts';
import { withoutColons } from '../store/keys.ts';

/** Any object. zod does not look into it, so that a large one takes no longer. */
const anyObject: z.ZodMiniType<Record<string, unknown>> = z.object({});

// The fields of each event. Only those of a constant of its own keep their docstrings in the types.

const startedFields = {
  eventName: z.literal('call:started'),
  /** Links the events of one call. It is the `_id` of the record in `GET /v1/calls`. */
  callId: z.optional(z.string()),
  /** The service number the call was placed from. The spec does not show its inner fields. */
  fromPhoneNumber: z.optional(anyObject),
};
const completedFields = {
  eventName: z.literal('call:completed'),
  /**
   * Links the events of one call. It is the `_id` of the record in `GET /v1/calls`. Older deliveries do
   * not have it.
   */
  callId: z.optional(z.string()),
  /** The service number the call was placed from. The spec does not show its inner fields. */
  fromPhoneNumber: z.optional(anyObject),
};
const recordingFields = {
  eventName: z.literal('call:recording-available'),
  /** Identifies the event. It has the form `<callId>:recording-available`. */
  eventId: z.optional(z.string()),
  /** Links the events of one call. It is the `_id` of the record in `GET /v1/calls`. */
  callId: z.optional(z.string()),
  /** The id of a user of the service. */
  userId: z.optional(z.string()),
  /** The id of the workspace of the service. */
  workspaceId: z.optional(z.string()),
  /** The time at which the recording started: ISO 8601 with milliseconds, in UTC. */
  recordingStartedAt: z.optional(z.string()),
  /** The length of the recording in seconds. */
  recordingDurationSeconds: z.optional(z.number()),
  /** The time of the event: ISO 8601 with milliseconds, in UTC. */
  occurredAt: z.optional(z.string()),
  /**
   * The URL of the recording: `{base_url}/v1/calls/<callId>/recording`. Download it with
   * `@call-webhooks/client`, which sends your API token only to the origin that you configured.
   */
  recordingUrl: z.optional(z.string()),
};

/**
 * The zod schemas of the service's events, as handlers get them. Use them only to check an event:
 * parsing an event with one drops every other field.
 */
export const EVENT_SCHEMAS: {
  readonly 'call:started': z.ZodMiniObject<typeof startedFields>;
  readonly 'call:completed': z.ZodMiniObject<typeof completedFields>;
  readonly 'call:recording-available': z.ZodMiniObject<typeof recordingFields>;
} = {
  'call:started': z.object(startedFields),
  'call:completed': z.object(completedFields),
  'call:recording-available': z.object(recordingFields),
};

/** The fields of the events' schemas, for the check of each delivery. */
const FIELDS: Record<keyof typeof EVENT_SCHEMAS, [name: string, type: z.ZodMiniType][]> = {
  'call:started': Object.entries(startedFields),
  'call:completed': Object.entries(completedFields),
  'call:recording-available': Object.entries(recordingFields),
};

// Type aliases, since an interface cannot be passed as a `Record<string, unknown>`. None has an index
// signature, with which a misspelt field would compile.

/**
 * `call:started`: a call that was placed with the dialer has started.
 *
 * The spec describes seven more fields by meaning, without naming them. Read them from `context.call`.
 * A field that is missing, `null` or of an unexpected type is `undefined`. `context.payload` has all
 * fields as they were sent.
 */
export type CallStartedEvent = z.output<(typeof EVENT_SCHEMAS)['call:started']>;

/**
 * `call:completed`: a call has ended and was logged.
 *
 * The spec describes seven more fields by meaning, without naming them. Read them from `context.call`.
 * A field that is missing, `null` or of an unexpected type is `undefined`. `context.payload` has all
 * fields as they were sent.
 */
export type CallCompletedEvent = z.output<(typeof EVENT_SCHEMAS)['call:completed']>;

/**
 * `call:recording-available`: the recording of a call can be downloaded. It often arrives before
 * `call:completed`, and contains no personal details.
 *
 * At least one of `eventId` and `callId` is present. Any other field that is missing, `null` or of an
 * unexpected type is `undefined`.
 */
export type CallRecordingAvailableEvent = z.output<
  (typeof EVENT_SCHEMAS)['call:recording-available']
>;

/** The types of the service's events by name. The option `events` adds further ones. */
export interface CallEventMap {
  'call:started': CallStartedEvent;
  'call:completed': CallCompletedEvent;
  'call:recording-available': CallRecordingAvailableEvent;
}

/** A verified event whose name is neither one of the service's nor in the option `events`. */
export interface UnknownEvent {
  /** The name of the event, as it is in the body. */
  eventName: string;
  [field: string]: unknown;
}

/** The names of the service's three events. */
export const EVENT_NAMES = [
  'call:started',
  'call:completed',
  'call:recording-available',
] as const satisfies readonly (keyof CallEventMap)[];

export const isKnownEvent = (name: string): name is keyof CallEventMap =>
  Object.hasOwn(EVENT_SCHEMAS, name);

/**
 * The event in the form that its type promises: the same object, or a copy in which each field that is
 * `null` or of an unexpected type is `undefined`.
 */
export function typedEvent(
  eventName: keyof CallEventMap,
  event: Record<string, unknown>,
): Record<string, unknown> {
  const odd = FIELDS[eventName].filter(([name, type]) => !z.validate(type, event[name]));
  if (odd.length === 0) return event;
  return { ...event, ...Object.fromEntries(odd.map(([name]) => [name, undefined])) };
}

/** The beginnings of keys of other kinds. */
const KINDS = new Set(['event', 'custom', 'webhook-id', 'tenant']);
const RECORDING_ID = /^([^:]+):recording-available$/;

/**
 * Returns the idempotency key of an event, which is the same for all deliveries of it. Handlers have it
 * as `context.key`.
 *
 * It consists of `callId` and `eventName` for `call:started` and `call:completed`, and is `eventId` for
 * `call:recording-available` (spec, "Events", rules 2 and 3). For an event that is not in the spec, it
 * consists of its name and its `eventId`. Keys of different kinds are never equal.
 * @returns `undefined` if these fields are missing, or if the key would be longer than 4,000
 *   characters. Duplicates of such an event cannot be recognized, so it is handled each time it
 *   arrives.
 * @example
 * eventKey({ eventName: 'call:started', callId: 'c1' }); // 'c1:call:started'
 */
export function eventKey(event: object): string | undefined {
  const { eventId, callId, eventName } = event as Record<string, unknown>;
  if (eventName === 'call:started' || eventName === 'call:completed') {
    if (!isIdentifying(callId)) return undefined;
    // The first colon ends the call id. An encoded one has no % at its end.
    return usableKey(`${KINDS.has(callId) ? `${callId}%` : withoutColons(callId)}:${eventName}`);
  }
  if (!isIdentifying(eventId) || !isIdentifying(eventName)) return undefined;
  const [, recorded] = RECORDING_ID.exec(eventId) ?? [];
  const isRecording = eventName === 'call:recording-available' && recorded !== undefined;
  if (isRecording && !KINDS.has(recorded)) return eventId;
  return usableKey(`event:${withoutColons(eventName)}:${eventId}`);
}

/**
 * The longest key or group; characters. A longer one could not be remembered, so it identifies nothing.
 */
export const MAX_KEY_LENGTH = 4_000;

/** A string that may be a key or a part of one. Its length is checked before it is used. */
export const isIdentifying = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_KEY_LENGTH;

const usableKey = (key: string): string | undefined => (isIdentifying(key) ? key : undefined);

const MAX_DEPTH = 64;
/** Created when it is first needed: Jest's jsdom, where an app may be imported, has no TextDecoder. */
let utf8: InstanceType<typeof TextDecoder> | undefined;

/**
 * Parses the body of an authentic delivery: JSON in UTF-8.
 * @throws WebhookError `invalid-payload`
 */
export function parsePayload(body: Uint8Array): unknown {
  // Fatal: invalid UTF-8 is refused. A BOM is kept, so that JSON.parse refuses it.
  utf8 ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new WebhookError('invalid-payload', 'The body is not valid UTF-8.');
  }
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the body.
    const failure = new WebhookError('invalid-payload', 'The body is not valid JSON.');
    throw withOrigin(failure, { source: 'schema', error, isWithheld: true });
  }
  // Each level takes a bracket, so a text with few brackets is not checked any further.
  if (hasMoreBrackets(text, MAX_DEPTH) && isDeeperThan(payload, MAX_DEPTH)) {
    throw new WebhookError(
      'invalid-payload',
      `The body is nested more than ${String(MAX_DEPTH)} levels deep.`,
    );
  }
  return payload;
}

function hasMoreBrackets(text: string, levels: number): boolean {
  let left = levels;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1))
      if (left-- === 0) return true;
  }
  return false;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof inner === 'object' && isDeeperThan(inner, levels - 1)) return true;
  }
  return false;
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
