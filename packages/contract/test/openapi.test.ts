import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import { ACTIVITY_ACTIONS, createClient, type ActivityEvent } from '@call-webhooks/client';
import { EVENT_NAMES } from '@call-webhooks/core';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { openapi } from '../scripts/openapi.ts';
import { jsonSchemas } from '../scripts/schemas.ts';
import { readJson } from './read-vectors.ts';

describe('the published files are those that npm run contract writes', () => {
  it('openapi.json', () => {
    expect(readJson('openapi.json')).toEqual(JSON.parse(JSON.stringify(openapi)));
  });

  it.each([...jsonSchemas])('schemas/%s', (name, schema) => {
    expect(readJson(`schemas/${name}`)).toEqual(JSON.parse(JSON.stringify(schema)));
  });
});

const parameters = Object.values(openapi.components.parameters);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...openapi });
const compiled = (path: string): ValidateFunction => ajv.compile({ $ref: `openapi#${path}` });
const errorsOf = (validate: ValidateFunction, value: unknown) =>
  validate(value) ? [] : validate.errors;

describe('OpenAPI describes what the simulator does', () => {
  let simulator: Simulator;
  let results: readonly ActivityEvent[];
  const delivered: Record<string, string>[] = [];
  const paths: string[] = [];
  beforeAll(async () => {
    simulator = await startSimulator({ clock: 'manual', seed: 1 });
    const receiver = await serveLocally(({ headers }, response) => {
      delivered.push(headers as Record<string, string>);
      response.end();
    });
    simulator.rules.forwardTo(receiver.origin);
    const call = simulator.calls.place();
    await simulator.clock.runUntilIdle();
    const { _id } = simulator.messages.send({
      subject: 'Hi',
      to: ['a@x.example', { email: 'b@x.example', name: 'Bo' }],
    });
    for (const action of ACTIVITY_ACTIONS)
      if (action !== 'unopened') simulator.messages.record(_id, { action });
    const client = createClient({
      baseUrl: simulator.url,
      apiToken: simulator.apiToken,
      onRequest: ({ method, url }) => paths.push(`${method} ${new URL(url).pathname}`),
    });
    ({ results } = await client.events.list());
    await client.calls.list();
    await (await client.calls.recording(call._id)).body.cancel();
    const rule = simulator.rules.create({ trigger: 'call:started' });
    await client.rules.addWebhook(rule._id, { url: receiver.origin });
    const [action] = simulator.rules.get(rule._id).actions;
    await client.rules.rotateSigningSecret(rule._id, action!._id);
    await receiver.close();
  });
  afterAll(() => simulator.close());

  it.each(ACTIVITY_ACTIONS)('an event %s matches, and not without any of its fields', (action) => {
    const validate = compiled('/components/schemas/ActivityEvent');
    const found = results.filter((event) => event.action === action);
    expect(found).toHaveLength(1);
    const [event] = found as unknown as Record<string, unknown>[];
    expect(errorsOf(validate, event)).toEqual([]);
    for (const name of Object.keys(event!)) {
      const { [name]: _removed, ...without } = event!;
      expect([name, validate(without)]).toEqual([name, false]);
      expect([name, validate({ ...event, [name]: Symbol('of no type') })]).toEqual([name, false]);
    }
  });

  it('the headers of a delivery match, each of them required', () => {
    expect(delivered).toHaveLength(EVENT_NAMES.length);
    expect(parameters.map(({ name }) => name)).toEqual([
      ...['X-Service-Webhook-Id', 'X-Service-Timestamp', 'X-Service-Signature'],
    ]);
    for (const { name, in: place, required, schema } of parameters) {
      expect([name, place, required]).toEqual([name, 'header', true]);
      const validate = ajv.compile(schema);
      for (const headers of delivered) {
        const value = headers[name.toLowerCase()]!;
        expect([name, errorsOf(validate, value)]).toEqual([name, []]);
        expect([name, validate(`${value}!`)]).toEqual([name, false]);
      }
    }
  });

  it('has a webhook for each event, with its headers and its schema', () => {
    type Webhook = (typeof openapi)['webhooks']['custom-payload'];
    const webhooks: Record<string, Webhook> = openapi.webhooks;
    const { 'custom-payload': custom, ...events } = webhooks;
    expect(custom).toHaveProperty('post.operationId', 'onCustomPayload');
    expect(Object.keys(events)).toEqual([...EVENT_NAMES]);
    for (const { post } of Object.values(events)) {
      const { schema } = post.requestBody.content['application/json'];
      const title = (schema as { $ref: string }).$ref.split('/').at(-1)!;
      expect(post.operationId).toBe(`on${title}`);
      expect(Object.keys(post.responses)).toEqual(['404', '2XX', 'default']);
      expect(post.parameters).toEqual(
        Object.keys(openapi.components.parameters).map((name) => ({
          $ref: `#/components/parameters/${name}`,
        })),
      );
    }
  });

  it('has every path that the client asks for, with its method', () => {
    const described = Object.entries(openapi.paths).flatMap(([path, item]) =>
      Object.keys(item).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '[^/]+')}`,
      ),
    );
    expect(described).toHaveLength(paths.length);
    for (const [index, path] of described.entries())
      expect(paths[index]).toMatch(new RegExp(`^${path}$`));
  });
});
