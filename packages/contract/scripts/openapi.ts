import { ACTIVITY_SCHEMAS } from './activity-events.ts';
import { EVENTS } from './schemas.ts';

/** The three headers of a delivery. */
const HEADERS = [
  {
    name: 'X-Service-Webhook-Id',
    component: 'WebhookId',
    description:
      'A new UUID for every attempt, including retries. Part of the signed content. It identifies replays, not duplicate events.',
    schema: { type: 'string', format: 'uuid' },
  },
  {
    name: 'X-Service-Timestamp',
    component: 'Timestamp',
    description: 'When this attempt was signed, in Unix seconds. Part of the signed content.',
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  {
    name: 'X-Service-Signature',
    component: 'Signature',
    description:
      '`v1,` and the base64 HMAC-SHA256 of `<id>.<timestamp>.<raw body>`. The key is the secret without `whsec_`, base64-decoded.',
    schema: { type: 'string', pattern: '^v1,[A-Za-z0-9+/]{43}=$' },
  },
] as const;

/** The version of the OpenAPI document: it changes with the interface, not with releases. */
const CONTRACT_VERSION = '1.0.0';

const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' } as const;

/** What applies to all deliveries. */
const DELIVERY = [
  'Delivery is at least once and in no particular order.',
  'To verify a delivery, require all three headers, reject a timestamp that differs from the clock by more than 5 minutes, compare the signature in constant time, and reject a webhook id that was accepted before, for at least 5 minutes.',
  'Duplicates of an event have the same `callId` and `eventName`.',
].join(' ');

const pathParameter = (name: string, description: string) => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
});

/** The interface shows the token for `GET /v1/events` only, so elsewhere it may be left out. */
const MAYBE_TOKEN = [{ apiToken: [] }, {}];

/** Statuses, headers and bodies that the interface does not show. */
const notShown = (description: string) => ({
  default: { description: `${description} The interface does not show the response.` },
});

/** The REST side, as far as the interface shows it. */
const PATHS = {
  '/v1/events': {
    get: {
      operationId: 'listEvents',
      tags: ['rest'],
      summary: 'Lists activity events on sent messages.',
      description:
        'All fields are always returned. The interface names a `next` parameter for forward paging, but does not show how it is passed and where its value comes from. `previous` and `fields` are not supported.',
      security: [{ apiToken: [] }],
      parameters: [
        {
          name: 'search',
          in: 'query',
          required: false,
          description:
            'Words, an exact subject in double quotes, or operators: `to`, `since`, `until`, `type`, `template`, `sequence`, `from`. Only `to` may be repeated.',
          schema: { type: 'string' },
          example: 'type:replied since:2027-01-01',
        },
      ],
      responses: {
        '200': {
          description: 'The events that match.',
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['results'],
                properties: {
                  results: {
                    type: 'array',
                    items: { $ref: '#/components/schemas/ActivityEvent' },
                  },
                },
              },
            },
          },
        },
        default: { description: 'The interface does not show errors.' },
      },
    },
  },
  '/v1/calls': {
    get: {
      operationId: 'listCalls',
      tags: ['rest'],
      summary: 'Returns call records. The `_id` of a record is the `callId` of the events.',
      security: MAYBE_TOKEN,
      responses: notShown('Call records.'),
    },
  },
  '/v1/calls/{id}/recording': {
    get: {
      operationId: 'downloadRecording',
      tags: ['rest'],
      summary: 'Downloads the recording of a call.',
      security: MAYBE_TOKEN,
      parameters: [pathParameter('id', 'The `callId` of the events.')],
      responses: notShown('The recording.'),
    },
  },
  '/v1/rules/{id}/actions': {
    post: {
      operationId: 'createAction',
      tags: ['rest'],
      summary: 'Creates a webhook action on a rule and yields its signing secret.',
      description: 'The interface does not show the request body.',
      security: MAYBE_TOKEN,
      parameters: [pathParameter('id', 'The id of the rule.')],
      requestBody: { content: { '*/*': { schema: { description: 'Not shown.' } } } },
      responses: notShown('The signing secret: `whsec_` followed by base64.'),
    },
  },
  '/v1/rules/{id}/actions/{actionId}': {
    patch: {
      operationId: 'rotateSigningSecret',
      tags: ['rest'],
      summary: 'Rotates the signing secret of an action.',
      description: 'The next delivery is signed with the new secret.',
      security: MAYBE_TOKEN,
      parameters: [
        pathParameter('id', 'The id of the rule.'),
        pathParameter('actionId', 'The id of the action.'),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              properties: {
                rotateSigningSecret: {
                  type: 'boolean',
                  description: '`true` to rotate the secret.',
                },
              },
            },
            example: { rotateSigningSecret: true },
          },
        },
      },
      responses: notShown('The new signing secret.'),
    },
  },
} as const;

const RESPONSES = {
  '2XX': { description: 'Within 30 seconds: acknowledged. The body is ignored.' },
  '404': {
    description:
      'Never send a 404: it pauses the rule at once, and the owner is emailed (the admins, for a workspace rule).',
  },
  default: {
    description:
      'Any other status, no response within 30 seconds, or a connection error: retried about every 5 minutes, a limited number of times. Then the rule is paused.',
  },
};

const webhook = (operationId: string, summary: string, schema: object, example?: unknown) => ({
  post: {
    operationId,
    tags: ['deliveries'],
    summary,
    security: [],
    parameters: HEADERS.map(({ component }) => ({ $ref: `#/components/parameters/${component}` })),
    requestBody: {
      required: true,
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    },
    responses: RESPONSES,
  },
});

/** The document of OpenAPI 3.1. */
export const openapi = {
  openapi: '3.1.0',
  info: {
    title: 'Call webhooks and activity events',
    version: CONTRACT_VERSION,
    description: `${DELIVERY} Only what the interface shows is described; what it does not show is left open.`,
    license: LICENSE,
  },
  servers: [
    {
      url: '{base_url}',
      variables: {
        base_url: {
          default: 'https://api.example.com',
          description: 'The base URL of the service.',
        },
      },
    },
  ],
  tags: [
    { name: 'deliveries', description: 'What the service sends to your receiver.' },
    { name: 'rest', description: 'What the service offers.' },
  ],
  webhooks: {
    ...Object.fromEntries(
      EVENTS.map(({ name, title, summary, example }) => [
        name,
        webhook(`on${title}`, summary, { $ref: `#/components/schemas/${title}` }, example),
      ]),
    ),
    'custom-payload': webhook(
      'onCustomPayload',
      'What an action with a custom payload sends instead of the event. No `eventName` is added.',
      { description: 'Whatever the action defines.' },
    ),
  },
  paths: PATHS,
  components: {
    parameters: Object.fromEntries(
      HEADERS.map(({ component, ...header }) => [
        component,
        { in: 'header', required: true, ...header },
      ]),
    ),
    schemas: {
      ...Object.fromEntries(EVENTS.map(({ title, schema }) => [title, schema])),
      ...ACTIVITY_SCHEMAS,
    },
    securitySchemes: {
      apiToken: { type: 'apiKey', in: 'header', name: 'X-API-Token' },
    },
  },
};
