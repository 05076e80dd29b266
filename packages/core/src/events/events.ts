import { z } from 'zod';

/**
 * `call:started`: a call placed with the dialer starts.
 *
 * The spec describes seven more fields by meaning and does not show their names; `callDetails`
 * looks them up. Fields may be added at any time and reach the handler untouched.
 */
export interface CallStartedEvent {
  eventName: 'call:started';
  /** Links the events of one call: the `_id` of `GET /v1/calls`. */
  callId?: string | null | undefined;
  /** The service number the call was placed from; its inner fields are not shown in the spec. */
  fromPhoneNumber?: Record<string, unknown> | null | undefined;
  [field: string]: unknown;
}

/** `call:completed`: a call ended and is logged. `callId` is a newer addition: an old action may lack it. */
export interface CallCompletedEvent {
  eventName: 'call:completed';
  /** Links the events of one call: the `_id` of `GET /v1/calls`. */
  callId?: string | null | undefined;
  /** The service number the call was placed from; its inner fields are not shown in the spec. */
  fromPhoneNumber?: Record<string, unknown> | null | undefined;
  [field: string]: unknown;
}

/**
 * `call:recording-available`: the recording of a call can be downloaded. Often arrives before
 * `call:completed`. Carries no phone number and no personal details.
 */
export interface CallRecordingAvailableEvent {
  eventName: 'call:recording-available';
  /** `<callId>:recording-available` */
  eventId: string;
  callId: string;
  userId: string;
  workspaceId: string;
  /** ISO 8601 with milliseconds, UTC. */
  recordingStartedAt: string;
  /** Whole seconds. */
  recordingDurationSeconds: number;
  /** ISO 8601 with milliseconds, UTC. */
  occurredAt: string;
  /** `{base_url}/v1/calls/<callId>/recording`. Send an API token to an origin that you know, only. */
  recordingUrl: string;
  [field: string]: unknown;
}

/** The events of the service by name. `events` of the receiver's options adds to it. */
export interface CallEventMap {
  'call:started': CallStartedEvent;
  'call:completed': CallCompletedEvent;
  'call:recording-available': CallRecordingAvailableEvent;
}

/** A verified event with a name that has no schema: new in the service, or nobody's business here. */
export interface UnknownEvent {
  eventName: string;
  [field: string]: unknown;
}

export const EVENT_NAMES = [
  'call:started',
  'call:completed',
  'call:recording-available',
] as const satisfies readonly (keyof CallEventMap)[];

const callBody = <Name extends string>(eventName: Name) =>
  z.looseObject({
    eventName: z.literal(eventName),
    callId: z.string().max(1_000).nullish(),
    fromPhoneNumber: z.looseObject({}).nullish(),
  });

const builders = {
  'call:started': () => callBody('call:started'),
  'call:completed': () => callBody('call:completed'),
  'call:recording-available': () =>
    z.looseObject({
      eventName: z.literal('call:recording-available'),
      eventId: z.string().min(1).max(1_000),
      callId: z.string().min(1).max(1_000),
      userId: z.string(),
      workspaceId: z.string(),
      recordingStartedAt: z.string(),
      recordingDurationSeconds: z.number().int().nonnegative(),
      occurredAt: z.string(),
      recordingUrl: z.string(),
    }),
} satisfies { [Name in keyof CallEventMap]: () => z.ZodType<CallEventMap[Name]> };

type Schemas = { readonly [Name in keyof typeof builders]: ReturnType<(typeof builders)[Name]> };
type Checks = { readonly [Name in keyof Schemas]: ReturnType<Schemas[Name]['strip']> };

/** The zod schemas of the events, by event name. Each is built when it is first asked for. */
export const eventSchemas = lazily((name) => builders[name]()) as Schemas;

/**
 * The same for checking an event without making a new one of it: the fields that they do not name,
 * most of a body, are not looked at.
 */
export const eventChecks = lazily((name) => eventSchemas[name].strip()) as Checks;

function lazily(make: (name: keyof CallEventMap) => unknown): object {
  const made = {};
  for (const name of EVENT_NAMES) {
    let value: unknown;
    Object.defineProperty(made, name, { enumerable: true, get: () => (value ??= make(name)) });
  }
  return made;
}

/**
 * The idempotency key of an event: `eventId` where the body has one, else `callId` and `eventName`
 * (spec, "Events", rules 2 and 3). Use it in your handler to make an effect happen exactly once.
 *
 * @returns `undefined` when the body has neither (an old `call:completed` without `callId`): such an
 *   event can't be told from another, and is handled every time it arrives
 */
export function eventKey(event: object): string | undefined {
  const { eventId, callId, eventName } = event as Record<string, unknown>;
  if (isText(eventId)) return eventId;
  if (!isText(callId) || !isText(eventName)) return undefined;
  // The first colon ends the call id, so that two different pairs never make one key.
  const id = /[%:]/.test(callId) ? callId.replace(/[%:]/g, encodeURIComponent) : callId;
  return `${id}:${eventName}`;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
