import { EVENTS } from './events.ts';
import { CONTRACT_VERSION, DELIVERY, HEADERS, LICENSE } from './headers.ts';

const NAMES = [...EVENTS.map(({ title }) => title), 'CustomPayload'];

const message = (name: string, title: string, summary: string, payload: object) => ({
  name,
  title,
  summary,
  contentType: 'application/json',
  headers: { $ref: '#/components/schemas/DeliveryHeaders' },
  payload,
});

const customPayload = message(
  'custom-payload',
  'CustomPayload',
  'What an action with a custom payload sends instead of the event.',
  { description: 'Whatever the action defines. No `eventName` is added.' },
);

/** The document of AsyncAPI 3. It describes the service, which sends. */
export const asyncapi = {
  asyncapi: '3.0.0',
  id: 'urn:call-webhooks:deliveries',
  info: {
    title: 'Call webhooks',
    version: CONTRACT_VERSION,
    description: DELIVERY,
    license: LICENSE,
  },
  defaultContentType: 'application/json',
  channels: {
    receiver: {
      address: null,
      title: 'Your receiver',
      description: 'The URL that the action of a rule posts to.',
      messages: Object.fromEntries(
        NAMES.map((title) => [title, { $ref: `#/components/messages/${title}` }]),
      ),
    },
  },
  operations: {
    deliver: {
      action: 'send',
      channel: { $ref: '#/channels/receiver' },
      summary: 'Posts an event, signed. Acknowledged with any 2xx within 30 seconds.',
      description:
        'A 404 pauses the rule at once. Anything else is retried about every 5 minutes, a limited number of times, and then the rule is paused.',
      messages: NAMES.map((title) => ({ $ref: `#/channels/receiver/messages/${title}` })),
      bindings: { http: { method: 'POST', bindingVersion: '0.3.0' } },
    },
  },
  components: {
    messages: {
      ...Object.fromEntries(
        EVENTS.map(({ name, title, summary, example }) => [
          title,
          {
            ...message(name, title, summary, { $ref: `#/components/schemas/${title}` }),
            examples: [{ payload: example }],
          },
        ]),
      ),
      CustomPayload: customPayload,
    },
    schemas: {
      DeliveryHeaders: {
        type: 'object',
        required: HEADERS.map(({ name }) => name),
        properties: Object.fromEntries(
          HEADERS.map(({ name, description, schema }) => [name, { ...schema, description }]),
        ),
      },
      ...Object.fromEntries(EVENTS.map(({ title, schema }) => [title, schema])),
    },
  },
};
