import type {
  CallCompletedEvent,
  CallEventMap,
  CallRecordingAvailableEvent,
  CallStartedEvent,
} from '@call-webhooks/core';
import { completed, recorded, started } from '../src/vectors/bodies.ts';
import type { FieldSchemas } from './field-schemas.ts';

type FieldsOf<Event> = FieldSchemas<Omit<Event, 'eventName'>>;

const callFields: FieldsOf<CallStartedEvent> & FieldsOf<CallCompletedEvent> = {
  callId: {
    type: ['string', 'null'],
    description:
      'Links the events of one call: the `_id` of `GET /v1/calls`. A newer addition to `call:completed`.',
  },
  fromPhoneNumber: {
    type: ['object', 'null'],
    description: 'The service number the call was placed from. Its fields are not shown.',
    additionalProperties: true,
  },
};

const recordingFields: FieldsOf<CallRecordingAvailableEvent> = {
  eventId: { type: ['string', 'null'], description: '`<callId>:recording-available`' },
  callId: { type: ['string', 'null'], description: 'Links the events of one call.' },
  userId: { type: ['string', 'null'], description: 'Not described beyond its name.' },
  workspaceId: { type: ['string', 'null'], description: 'Not described beyond its name.' },
  recordingStartedAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'ISO 8601 with milliseconds, UTC.',
  },
  recordingDurationSeconds: { type: ['integer', 'null'], description: 'Seconds.' },
  occurredAt: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'ISO 8601 with milliseconds, UTC.',
  },
  recordingUrl: {
    type: ['string', 'null'],
    format: 'uri',
    description:
      '`{base_url}/v1/calls/<callId>/recording`. Send your API token only to an origin that you configured.',
  },
};

const UNNAMED =
  'The interface describes seven more fields by meaning, without their names: who placed the call, when the record was created, the number called, the e-mail address and the name of the person called, when the call was dialed, and when it ended.';

/** An event, and everything about it that the files share. */
export interface EventContract {
  readonly name: keyof CallEventMap;
  /** `CallStarted`: its name in OpenAPI and AsyncAPI. */
  readonly title: string;
  readonly summary: string;
  readonly schema: object;
  readonly example: unknown;
}

const CALL_ID = '65a5b1c0d4e8f7a1b2c3d4e5';

function event(
  name: keyof CallEventMap,
  title: string,
  [summary, ...details]: readonly [string, ...string[]],
  fields: object,
  body: (callId: string) => string,
): EventContract {
  const schema = {
    title,
    description: [summary, ...details].join(' '),
    type: 'object',
    required: ['eventName'],
    properties: { eventName: { type: 'string', const: name }, ...fields },
  };
  return { name, title, summary, schema, example: JSON.parse(body(CALL_ID)) as unknown };
}

const OPTIONAL =
  'Fields may be added at any time. Where the interface does not show that a field is always sent, or never null, it is optional here and may be null.';

/** The three events. */
export const EVENTS: readonly EventContract[] = [
  event(
    'call:started',
    'CallStarted',
    ['A call placed with the dialer starts.', UNNAMED, OPTIONAL],
    callFields,
    started,
  ),
  event(
    'call:completed',
    'CallCompleted',
    ['A call ended and was logged.', UNNAMED, OPTIONAL],
    callFields,
    completed,
  ),
  event(
    'call:recording-available',
    'CallRecordingAvailable',
    [
      'The recording of a call can be downloaded.',
      'It often arrives before `call:completed`. It carries no phone number and no personal details of the person called.',
      OPTIONAL,
    ],
    recordingFields,
    recorded,
  ),
];
