import type {
  CallCompletedEvent,
  CallDetails,
  CallRecordingAvailableEvent,
  CallStartedEvent,
  FieldNames,
} from '@call-webhooks/core';
import { checkOptions, DEFAULT_FIELD_NAMES, fieldNamesRule } from '@call-webhooks/core/internal';

/** Fields that replace those of the factory. A field that is `undefined` is left out of the body. */
export type Overrides<Event> = Partial<Omit<Event, 'eventName'>>;

/** The seven fields of a call that the spec describes by meaning, without naming them. */
export interface CallFields<Meaning extends keyof CallDetails = keyof CallDetails> {
  /**
   * Values by meaning, which replace those of the factory. A value that is `undefined` leaves the field
   * out. Times are written in the formats of the spec.
   */
  call?: Partial<Pick<CallDetails, Meaning>> | undefined;
  /**
   * The names of these fields, as in the option `fieldNames` of the receiver, with the same defaults.
   */
  fieldNames?: FieldNames | undefined;
}

const CALL = {
  placedBy: 'user-1',
  createdAt: new Date('2026-01-02T03:04:04.678Z'),
  calledNumber: '+12025550101',
  calledEmail: 'ada@example.com',
  calledName: 'Ada Example',
  dialedAt: new Date('2026-01-02T03:04:05.678Z'),
};
const ENDED_AT = new Date('2026-01-02T03:05:06.678Z');

/**
 * Creates a `call:started` event with all its fields and a new `callId`.
 * @param overrides fields that replace those of the factory
 * @param fields values and names of the seven fields that the spec does not name
 * @throws WebhookError `invalid-options` for names that no field can have
 * @example
 * callStarted({ callId: 'c1' }, { call: { calledNumber: '+12025550101' } })
 */
export const callStarted = (
  overrides: Overrides<CallStartedEvent> = {},
  fields: CallFields<Exclude<keyof CallDetails, 'endedAt'>> = {},
): CallStartedEvent => ({
  eventName: 'call:started',
  callId: newId(),
  fromPhoneNumber: {},
  ...namedFields('callStarted', CALL, fields),
  ...overrides,
});

/**
 * Creates a `call:completed` event with all its fields and a new `callId`.
 * @param overrides fields that replace those of the factory
 * @param fields values and names of the seven fields that the spec does not name
 * @throws WebhookError `invalid-options` for names that no field can have
 * @example
 * callCompleted({ callId: 'c1' }, { call: { endedAt: new Date() } })
 */
export const callCompleted = (
  overrides: Overrides<CallCompletedEvent> = {},
  fields: CallFields = {},
): CallCompletedEvent => ({
  eventName: 'call:completed',
  callId: newId(),
  fromPhoneNumber: {},
  ...namedFields('callCompleted', { ...CALL, endedAt: ENDED_AT }, fields),
  ...overrides,
});

/**
 * Creates a `call:recording-available` event with all its fields. Its `eventId` and `recordingUrl` are
 * derived from its `callId`, which is new by default.
 * @param overrides fields that replace those of the factory
 * @example
 * callRecordingAvailable({ callId: 'c1', recordingDurationSeconds: 12 })
 */
export function callRecordingAvailable(
  overrides: Overrides<CallRecordingAvailableEvent> = {},
): CallRecordingAvailableEvent {
  const callId = overrides.callId ?? newId();
  return {
    eventName: 'call:recording-available',
    eventId: `${callId}:recording-available`,
    callId,
    userId: 'user-1',
    workspaceId: 'workspace-1',
    recordingStartedAt: '2026-01-02T03:04:05.678Z',
    recordingDurationSeconds: 61,
    occurredAt: '2026-01-02T03:06:05.678Z',
    recordingUrl: `https://api.example.com/v1/calls/${callId}/recording`,
    ...overrides,
  };
}

/** Times are date-times, except for `createdAt`: epoch milliseconds. */
function namedFields(
  creator: string,
  defaults: Partial<CallDetails>,
  { call, fieldNames }: CallFields,
): Record<string, unknown> {
  const checked = checkOptions(creator, { fieldNames: fieldNamesRule() }, { fieldNames });
  const names = { ...DEFAULT_FIELD_NAMES, ...checked.fieldNames };
  const named: Record<string, unknown> = {};
  for (const [meaning, value] of Object.entries({ ...defaults, ...call })) {
    const name = names[meaning as keyof CallDetails];
    if (name === undefined) continue;
    if (!(value instanceof Date)) named[name] = value;
    else named[name] = meaning === 'createdAt' ? value.getTime() : value.toISOString();
  }
  return named;
}

const newId = () => crypto.randomUUID().replaceAll('-', '').slice(0, 24);
