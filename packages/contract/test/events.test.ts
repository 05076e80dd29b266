import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveLocally } from '@call-webhooks/contract-tests';
import { createReceiver, EVENT_NAMES } from '@call-webhooks/core';
import { startSimulator, type Simulator } from '@call-webhooks/simulator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { deliveries, readJson } from './read-vectors.ts';

type Name = (typeof EVENT_NAMES)[number];
const schemas = new Map(
  EVENT_NAMES.map((name) => [
    name,
    readJson(`schemas/${name.replace(':', '-')}.schema.json`) as {
      properties: Record<string, object>;
    },
  ]),
);

const ajvOptions = { strict: true, allowUnionTypes: true, allErrors: true };
/** Also checks that texts are dates and URLs. */
const exact = new Ajv2020(ajvOptions);
addFormats.default(exact);
const lenient = new Ajv2020({ ...ajvOptions, validateFormats: false });

function problems(ajv: Ajv2020, event: { eventName?: unknown }): unknown {
  const schema = schemas.get(event.eventName as Name);
  if (!schema) return `no schema for ${JSON.stringify(event.eventName)}`;
  const validate = ajv.compile(schema);
  return validate(event) ? undefined : validate.errors;
}

/** Numbers are whole ones: the only number of the schemas is in seconds. */
const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.dictionary(fc.string(), fc.string()),
  fc.array(fc.integer()),
);

/** An event with any of its fields, of any type, and others. */
const event = fc.constantFrom(...EVENT_NAMES).chain((eventName) => {
  const fields = Object.keys(schemas.get(eventName)?.properties ?? {});
  const own = Object.fromEntries(fields.map((field) => [field, value]));
  return fc
    .tuple(fc.dictionary(fc.string(), value), fc.record(own, { requiredKeys: [] }))
    .map(([others, known]) => ({ ...others, ...known, eventName }));
});

it('whatever the receiver hands to a handler matches the schema', async () => {
  let handled = 0;
  const seen: { eventName: string }[] = [];
  const see = (one: { eventName: string }) => void seen.push(one);
  const receiver = createReceiver({
    secret: `whsec_${Buffer.alloc(24).toString('base64')}`,
    logger: { warn: () => undefined, error: () => undefined },
    on: { 'call:started': see, 'call:completed': see, 'call:recording-available': see },
  });
  await fc.assert(
    fc.asyncProperty(event, async (sent) => {
      seen.length = 0;
      await receiver.deliver(sent);
      for (const one of seen) {
        handled += 1;
        // As JSON: fields that are `undefined` are absent.
        expect(problems(lenient, JSON.parse(JSON.stringify(one)) as object)).toBeUndefined();
      }
    }),
    { numRuns: 300 },
  );
  expect(handled).toBeGreaterThan(100);
});

it('a field of another type does not match', () => {
  for (const [name, { properties }] of schemas)
    for (const field of Object.keys(properties))
      expect([field, problems(lenient, { eventName: name, [field]: [] })]).not.toEqual([
        field,
        undefined,
      ]);
});

it('the events of the vectors match', () => {
  const accepted = deliveries
    .filter(({ delivery }) => delivery.expect.effects === 1)
    .map(({ delivery }) => JSON.parse(delivery.body.text ?? '') as object);
  expect(accepted.length).toBeGreaterThan(40);
  for (const one of accepted) expect(problems(exact, one)).toBeUndefined();
});

describe('the simulator', () => {
  let simulator: Simulator;
  let receiver: Awaited<ReturnType<typeof serveLocally>>;
  beforeAll(async () => {
    simulator = await startSimulator({ clock: 'manual', seed: 1 });
    receiver = await serveLocally((_request, response) => void response.end());
  });
  afterAll(async () => {
    await simulator.close();
    await receiver.close();
  });

  it('sends events that match, with all their formats', async () => {
    const text = fc.string({ minLength: 1 });
    const input = fc.record(
      {
        durationSeconds: fc.integer({ min: 0, max: 3_600 }),
        calledNumber: text,
        calledEmail: fc.option(text),
        calledName: fc.option(text),
        fromPhoneNumber: fc.dictionary(fc.string(), text),
        recorded: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    const names = new Set<string>();
    await fc.assert(
      fc.asyncProperty(input, async (call) => {
        simulator.reset();
        simulator.rules.forwardTo(receiver.origin);
        simulator.calls.place(call);
        await simulator.clock.advance('2h');
        const sent = simulator.events.list();
        expect(sent.length).toBeGreaterThan(0);
        for (const { body, eventName } of sent) {
          names.add(eventName);
          expect(problems(exact, JSON.parse(body) as object)).toBeUndefined();
        }
      }),
      { numRuns: 20 },
    );
    expect([...names].sort()).toEqual([...EVENT_NAMES].sort());
  });
});
