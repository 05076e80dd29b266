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
export const PATHS = {
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
