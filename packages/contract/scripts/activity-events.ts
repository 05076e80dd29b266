import type {
  ActivityAction,
  ActivityEventFields,
  ClickedEvent,
  DownloadedEvent,
  EventDevice,
  EventLocation,
  EventObject,
  EventRecipient,
} from '@call-webhooks/client';

/** The JSON type of values of a TypeScript type. */
type TypeName<Value> = Value extends string
  ? 'string'
  : Value extends number
    ? 'number' | 'integer'
    : Value extends boolean
      ? 'boolean'
      : Value extends readonly unknown[]
        ? 'array'
        : 'object';

/** The JSON Schema of a field whose values have a TypeScript type. */
interface FieldSchema<Value> {
  readonly type: null extends Value
    ? readonly [TypeName<NonNullable<Value>>, 'null']
    : TypeName<NonNullable<Value>>;
  readonly description: string;
  readonly format?: 'date-time' | 'uri';
  readonly minimum?: number;
  readonly items?: object;
  readonly properties?: object;
  readonly required?: readonly string[];
  /** `true` also where it is the default: generators of code take an object without fields for `{}`. */
  readonly additionalProperties?: true;
}

/**
 * The schemas of all fields of a TypeScript type. A field that is missing here, that the type does
 * not have, or that has another type, does not compile.
 */
type FieldSchemas<Fields> = {
  readonly [Field in keyof Fields]-?: FieldSchema<Fields[Field]>;
};

/** An object of which all fields are always there. */
const objectOf = (properties: object) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

const recipient: FieldSchemas<EventRecipient> = {
  email: { type: 'string', description: 'The email address.' },
  name: { type: ['string', 'null'], description: 'Null if unknown when the email was sent.' },
};

const fields: FieldSchemas<ActivityEventFields> = {
  _id: { type: 'string', description: 'The unique id of the event.' },
  threadId: { type: 'string', description: 'The thread of the message at the mail provider.' },
  subject: { type: 'string', description: 'The subject of the message.' },
  timestamp: { type: 'number', description: 'When the event occurred; epoch milliseconds.' },
  userId: { type: 'string', description: 'The user the event is for.' },
  teamIds: {
    type: 'array',
    items: { type: 'string' },
    description: 'The teams the event is shared with.',
  },
  actionName: { type: 'string', description: 'Any description of the action.' },
  recipientEmail: { type: 'string', description: 'The recipient of the email.' },
  recipientName: {
    type: ['string', 'null'],
    description: 'Null if unknown when the email was sent.',
  },
  recipients: {
    type: 'array',
    items: objectOf(recipient),
    description: 'The recipients of the message.',
  },
};

const device: FieldSchemas<EventDevice> = {
  os: { type: 'string', description: 'The operating system.' },
  program: { type: 'string', description: 'The program.' },
  isMobile: { type: 'boolean', description: 'Whether it is a mobile device.' },
};
const location: FieldSchemas<EventLocation> = {
  city: { type: 'string', description: 'The city.' },
  region: { type: 'string', description: 'The region.' },
  country: { type: 'string', description: 'The country.' },
};
const object: FieldSchemas<EventObject> = {
  type: { type: 'string', description: 'Any text.' },
  title: {
    type: 'string',
    description: 'The name of the link, or the filename of the attachment. Used for searching.',
  },
};

type MoreOf<Event> = FieldSchemas<Omit<Event, keyof ActivityEventFields | 'action'>>;

const opened: MoreOf<Pick<DownloadedEvent, 'device' | 'location'>> = {
  device: { ...objectOf(device), type: 'object', description: 'The device.' },
  location: { ...objectOf(location), type: 'object', description: 'Where it was.' },
};
const clicked: MoreOf<ClickedEvent> = {
  object: { ...objectOf(object), type: 'object', description: 'The link or the attachment.' },
};
const downloaded: MoreOf<DownloadedEvent> = { ...opened, ...clicked };

/** Each type of event: its name in OpenAPI, what it means, and the fields that only it has. */
const TYPES: { readonly [Action in ActivityAction]: readonly [string, string, object] } = {
  unopened: ['Unopened', 'Sent, but not opened by all recipients. One per message.', {}],
  opened: ['Opened', 'A recipient opened the message. One per opening.', opened],
  clicked: ['Clicked', 'A link was clicked.', clicked],
  downloaded: ['Downloaded', 'A cloud-hosted attachment was downloaded.', downloaded],
  replied: ['Replied', 'The message was replied to.', {}],
  'meetinginvites:confirmed': ['MeetingConfirmed', 'A meeting was confirmed.', {}],
  'poll:voted': ['PollVoted', 'A poll was voted on.', {}],
};

/** The schemas of `GET /v1/events`, by their names in OpenAPI. */
export const ACTIVITY_SCHEMAS: Record<string, object> = {
  ActivityEvent: {
    description: 'One element of `results`.',
    oneOf: Object.values(TYPES).map(([title]) => ({ $ref: `#/components/schemas/${title}Event` })),
  },
  ActivityEventFields: {
    description: 'The fields of every activity event.',
    ...objectOf(fields),
  },
  ...Object.fromEntries(
    Object.entries(TYPES).map(([action, [title, description, more]]) => [
      `${title}Event`,
      {
        description,
        allOf: [
          { $ref: '#/components/schemas/ActivityEventFields' },
          objectOf({ action: { type: 'string', const: action }, ...more }),
        ],
      },
    ]),
  ),
};
