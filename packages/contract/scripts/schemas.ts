import { type CallEventMap } from '@call-webhooks/core';
import { EVENT_SCHEMAS } from '@call-webhooks/core/internal';
import * as z from 'zod/mini';
import { bodies } from '../src/group.ts';

/** What the files say of a field beyond the type that core checks. */
interface FieldNotes {
  readonly description: string;
  readonly type?: 'integer';
  readonly format?: 'date-time' | 'uri';
  /** `true` also where it is the default: generators of code take an object without fields for `{}`. */
  readonly additionalProperties?: true;
}

/** A field that is missing here, or that the event does not have, does not compile. */
type NotesOf<Name extends keyof CallEventMap> = {
  readonly [Field in Exclude<keyof CallEventMap[Name], 'eventName'>]: FieldNotes;
};

const callFields: NotesOf<'call:started'> & NotesOf<'call:completed'> = {
  callId: {
    description:
      'Links the events of one call: the `_id` of `GET /v1/calls`. A newer addition to `call:completed`.',
  },
  fromPhoneNumber: {
    description: 'The service number the call was placed from. Its fields are not shown.',
    additionalProperties: true,
  },
};

const recordingFields: NotesOf<'call:recording-available'> = {
  eventId: { description: '`<callId>:recording-available`' },
  callId: { description: 'Links the events of one call.' },
  userId: { description: 'Not described beyond its name.' },
  workspaceId: { description: 'Not described beyond its name.' },
  recordingStartedAt: { format: 'date-time', description: 'ISO 8601 with milliseconds, UTC.' },
  recordingDurationSeconds: { type: 'integer', description: 'Seconds.' },
  occurredAt: { format: 'date-time', description: 'ISO 8601 with milliseconds, UTC.' },
  recordingUrl: {
    format: 'uri',
    description:
      '`{base_url}/v1/calls/<callId>/recording`. Send your API token only to an origin that you configured.',
  },
};

const UNNAMED =
  'The interface describes seven more fields by meaning, without their names: who placed the call, when the record was created, the number called, the email address and the name of the person called, when the call was dialed, and when it ended.';

/** An event, and everything about it that the files share. */
export interface EventContract {
  readonly name: keyof CallEventMap;
  /** `CallStarted`: its name in OpenAPI. */
  readonly title: string;
  readonly summary: string;
  readonly schema: object;
  readonly example: unknown;
}

const CALL_ID = '65a5b1c0d4e8f7a1b2c3d4e5';

function event<Name extends keyof CallEventMap>(
  name: Name,
  title: string,
  [summary, ...details]: readonly [string, ...string[]],
  fields: NotesOf<Name>,
  body: (callId: string) => string,
): EventContract {
  const { type, required, properties } = z.toJSONSchema(EVENT_SCHEMAS[name], { io: 'input' });
  const { eventName, ...types } = properties as Record<string, { type: string }>;
  const described = Object.entries<FieldNotes>(fields).map(([field, notes]) => {
    const { type = types[field]?.type, ...others } = notes;
    return [field, { type: [type, 'null'], ...others }] as const;
  });
  const schema = {
    title,
    description: [summary, ...details].join(' '),
    ...{ type, required },
    properties: { eventName, ...Object.fromEntries(described) },
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
    bodies().started,
  ),
  event(
    'call:completed',
    'CallCompleted',
    ['A call ended and was logged.', UNNAMED, OPTIONAL],
    callFields,
    bodies().completed,
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
    bodies().recorded,
  ),
];

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const idOf = (name: string) => `urn:call-webhooks:schema:1:${name}`;
const fileOf = (name: string) => name.replace(':', '-');

/** JSON Schema (2020-12) of each event, and of any of them, by file. */
export const jsonSchemas: ReadonlyMap<string, object> = new Map([
  ...EVENTS.map(({ name, schema, example }): [string, object] => [
    `${fileOf(name)}.schema.json`,
    { $schema: DIALECT, $id: idOf(fileOf(name)), ...schema, examples: [example] },
  ]),
  [
    'event.schema.json',
    {
      $schema: DIALECT,
      $id: idOf('event'),
      title: 'Event',
      description:
        'One of the three events. A custom payload, or an event that is added later, does not match.',
      oneOf: EVENTS.map(({ title }) => ({ $ref: `#/$defs/${title}` })),
      $defs: Object.fromEntries(EVENTS.map(({ title, schema }) => [title, schema])),
    },
  ],
]);
