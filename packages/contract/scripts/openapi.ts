import { EVENTS } from './events.ts';
import { ACTIVITY_SCHEMAS } from './activity-events.ts';
import { CONTRACT_VERSION, DELIVERY, HEADERS, LICENSE } from './headers.ts';
import { PATHS } from './paths.ts';

const RESPONSES = {
  '2XX': { description: 'Within 30 seconds: acknowledged. The body is ignored.' },
  '404': {
    description:
      'Never send a 404: it pauses the rule at once, and the owner is e-mailed (the admins, for a workspace rule).',
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
