import { afterEach, expect, it } from '@jest/globals';
import { startSimulator } from '@call-webhooks/simulator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Fastify, { type FastifyRequest } from 'fastify';
import openapiGlue from 'fastify-openapi-glue';
import createClient from 'openapi-fetch';
import { readJson } from '../read-vectors.ts';

interface Operation {
  readonly post: { readonly operationId: string };
}
interface Document {
  readonly webhooks: Record<string, Operation>;
}
const openapi = readJson('openapi.json') as Document;
/**
 * With the names of headers in lower case, as Node has them. Fastify does that itself, but not for
 * objects of the realms that Jest makes.
 */
const lowerCase = JSON.parse(
  JSON.stringify(openapi).replace(/"X-Service-[\w-]+"/g, (name) => name.toLowerCase()),
) as Document;

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
const simulate = async () => {
  const simulator = await startSimulator({ clock: 'manual', seed: 1 });
  opened.push(simulator);
  return simulator;
};

/** A server whose routes come from the document, with each webhook at a path of its own. */
async function startServer() {
  const received: { operation: string; body: unknown }[] = [];
  const receive = (operation: string) => async (request: FastifyRequest) =>
    void received.push({ operation, body: request.body });
  const { webhooks, ...document } = lowerCase;
  const operations = Object.values(webhooks).map((item) => item.post.operationId);
  const app = Fastify({ ajv: { customOptions: { strict: false } } });
  opened.push(app);
  await app.register(openapiGlue, {
    specification: {
      ...document,
      paths: Object.fromEntries(
        Object.values(webhooks).map((item) => [`/${item.post.operationId}`, item]),
      ),
    },
    serviceHandlers: Object.fromEntries(operations.map((name) => [name, receive(name)])),
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), received };
}

it('a server that is made from the webhooks takes what the simulator sends', async () => {
  const { url, received } = await startServer();
  const simulator = await simulate();
  simulator.rules.create({
    trigger: 'call:started',
    scope: 'workspace',
    actions: [{ url: `${url}/onCallStarted` }],
  });
  simulator.rules.create({
    trigger: 'call:completed',
    scope: 'workspace',
    actions: [{ url: `${url}/onCallCompleted` }, { url: `${url}/onCustomPayload`, payload: [1] }],
  });
  simulator.rules.setRecordingWebhook({ url: `${url}/onCallRecordingAvailable` });
  simulator.calls.place();
  await simulator.clock.runUntilIdle();

  expect(simulator.events.counts()).toEqual({ acknowledged: 4 });
  expect(received.map(({ operation }) => operation).sort()).toEqual([
    'onCallCompleted',
    'onCallRecordingAvailable',
    'onCallStarted',
    'onCustomPayload',
  ]);
});

it('and refuses a delivery of another event, or without its headers', async () => {
  const { url } = await startServer();
  const headers = {
    'content-type': 'application/json',
    'x-service-webhook-id': crypto.randomUUID(),
    'x-service-timestamp': '1800000000',
    'x-service-signature': `v1,${'A'.repeat(43)}=`,
  };
  const post = async (eventName: string, names = Object.keys(headers)) => {
    const sent = Object.entries(headers).filter(([name]) => names.includes(name));
    const body = JSON.stringify({ eventName });
    const response = await fetch(`${url}/onCallStarted`, { method: 'POST', headers: sent, body });
    return response.status;
  };
  expect(await post('call:started')).toBe(200);
  expect(await post('call:completed')).toBe(400);
  for (const name of Object.keys(headers).slice(1))
    expect(
      await post(
        'call:started',
        Object.keys(headers).filter((one) => one !== name),
      ),
    ).toBe(400);
});

it('a client that is made from the paths talks to the simulator', async () => {
  const simulator = await simulate();
  const message = simulator.messages.send({ subject: 'Hello', to: 'dana@example.com' });
  for (const action of ['opened', 'clicked', 'downloaded', 'replied', 'poll:voted'] as const)
    simulator.messages.record(message._id, { action });
  simulator.messages.send({ subject: 'Not opened', to: 'kim@example.com' });
  const client = createClient<Paths>({
    baseUrl: simulator.url,
    headers: { 'X-API-Token': simulator.apiToken },
  });

  const { data } = await client.GET('/v1/events');
  const events = data?.results ?? [];
  expect(events.length).toBeGreaterThan(5);
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema({ ...openapi, $id: 'openapi' });
  const validate = ajv.compile({ $ref: 'openapi#/components/schemas/ActivityEvent' });
  for (const event of events) {
    validate(event);
    expect(validate.errors).toBeNull();
    expect(validate({ ...event, action: 'other' })).toBe(false);
    expect(validate({ ...event, subject: undefined, threadId: 1 })).toBe(false);
  }
});

/** What this test needs of the types that the integration test generates. */
interface Paths {
  '/v1/events': {
    get: {
      responses: { 200: { content: { 'application/json': { results: object[] } } } };
    };
  };
}
