import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { z } from 'zod';
import { toBase64 } from '#platform';
import type { HandlerContext, PayloadIssue, StandardSchema } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { bytes, createTestReceiver, Lines, NOW, SECONDS, STARTED } from '../support.ts';

/** What is told of a payload that a schema refuses. */
async function refusal(schema: StandardSchema, payload: unknown, options: object = {}) {
  const logger = new Lines();
  const thrown: unknown[] = [];
  const custom = { schema, handle: () => undefined };
  const onError = (error: unknown) => thrown.push(error);
  const all: object = { custom, logger, onError, ...options };
  const { send, outcomes } = createTestReceiver(all);
  expect(await send(payload)).toBe('invalid-payload');
  const { message = '', issues = [] } = outcomes[0]?.error ?? {};
  return { message, issues: issues as PayloadIssue[], thrown, lines: logger.all.join('\n') };
}

const pathsOf = async (schema: StandardSchema, payload: unknown) =>
  (await refusal(schema, payload)).issues.map(({ path }) => path);

/** A schema of a library that nobody knows. */
const foreign = (...issues: object[]): StandardSchema => ({
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: issues as never }) },
});

describe('the issues of a schema', () => {
  const person = z.object({
    name: z.literal('Bob', { error: ({ input }) => `not Bob: ${String(input)}` }),
    age: z.number(),
  });

  it('have a path and a code, and nothing of the payload', async () => {
    const told = await refusal(person, { name: 'Ada Lovelace', age: 'x' });
    expect(told.issues).toEqual([
      { path: 'name', code: 'invalid_value' },
      { path: 'age', code: 'invalid_type' },
    ]);
    expect(told.message).toBe(
      'The payload does not match its schema: name: invalid_value; age: invalid_type.',
    );
    expect(told.lines).toContain(told.message);
    expect(told.lines).not.toMatch(/Ada|Lovelace/);
  });

  it('have their messages with includeSchemaValues', async () => {
    const options = { includeSchemaValues: true };
    const { issues, message } = await refusal(person, { name: 'Ada', age: 1 }, options);
    expect(issues).toEqual([{ path: 'name', code: 'invalid_value', message: 'not Bob: Ada' }]);
    expect(message).toBe('The payload does not match its schema: name: not Bob: Ada.');
  });

  it('have messages on one line of limited length', async () => {
    const name = `x\ncall-webhooks: 200 \u001b[31m${'y'.repeat(600)}`;
    const path = ['a\nb'.repeat(400)];
    const schema = foreign({ message: name, path });
    const { issues } = await refusal(schema, {}, { includeSchemaValues: true });
    expect(issues[0]?.message).toBe(`${'x call-webhooks: 200  [31m'.padEnd(500, 'y')}…`);
    expect(issues[0]?.path).toMatch(/^a ba b[ab ]{490,500}…$/);
  });

  it('are five at most', async () => {
    const list = z.array(z.number());
    expect(await pathsOf(list, Array(9).fill('x'))).toEqual(['0', '1', '2', '3', '4']);
  });

  it('reach onError as the schema made them', async () => {
    const issues = [{ message: 'no Ada', path: ['customer', { key: 'age' }] }];
    const { thrown } = await refusal(foreign(...issues), {});
    expect(thrown).toMatchObject([{ code: 'invalid-payload', cause: issues }]);
  });

  it('are told without values where a schema throws', async () => {
    const schema = z.object({ name: z.string() }).refine(({ name }) => {
      throw new Error(`bad name ${name}`);
    });
    const { message, lines } = await refusal(schema, { name: 'Ada Lovelace' });
    expect(message).toBe('The schema failed: Error: bad name [redacted]');
    expect(lines).not.toMatch(/Ada|Lovelace/);
  });
});

describe('the codes of issues', () => {
  it('are the types of valibot', async () => {
    const schema = v.object({ email: v.pipe(v.string(), v.email('no Ada')), age: v.number() });
    const { issues } = await refusal(schema, { email: 'Ada', age: 'x' });
    expect(issues).toEqual([
      { path: 'email', code: 'email' },
      { path: 'age', code: 'number' },
    ]);
  });

  it.each([
    ['another library', foreign({ message: 'x', code: 'lovelace' })],
    ['an issue without one', foreign({ message: 'x' })],
  ])('are "invalid" of %s', async (_what, schema) => {
    expect((await refusal(schema, {})).issues).toEqual([{ path: '', code: 'invalid' }]);
  });
});

describe('the paths of issues', () => {
  it('show the names that a schema declares, and no other keys', async () => {
    const schema = z.strictObject({
      people: z.record(z.string(), z.object({ age: z.number() })),
      list: z.array(z.object({ age: z.number() }).nullish()),
    });
    const payload = {
      people: { lovelace: { age: 'x' }, Ada_King: 1 },
      list: [{ age: 'x' }],
      Turing: 1,
    };
    const { issues, message } = await refusal(schema, payload);
    expect(issues).toEqual([
      { path: 'people.[key].age', code: 'invalid_type' },
      { path: 'people.[key]', code: 'invalid_type' },
      { path: 'list.0.age', code: 'invalid_type' },
      { path: '', code: 'unrecognized_keys' },
    ]);
    expect(message).not.toMatch(/lovelace|king|turing/i);
  });

  it('show no keys of a record that is the whole payload', async () => {
    expect(await pathsOf(z.record(z.string(), z.number()), { lovelace: 'x' })).toEqual(['[key]']);
  });

  it('show a name that is declared by a schema that contains itself', async () => {
    const Recursive = z.object({
      get parent() {
        return z.nullable(Recursive);
      },
      customer: z.object({ age: z.number() }),
    });
    const payload = { parent: null, customer: { age: 'x' } };
    expect(await pathsOf(Recursive, payload)).toEqual(['customer.age']);
    expect(await pathsOf(Recursive, payload)).toEqual(['customer.age']); // known by now
  });

  it('show a name that is declared after a default of null', async () => {
    const schema = v.object({
      before: v.nullable(v.string(), null),
      customer: v.object({ age: v.number() }),
    });
    expect(await pathsOf(schema, { before: null, customer: {} })).toEqual(['customer.age']);
  });

  it.each([
    [4_900, 'age'],
    [5_100, '[key]'],
  ])('of a field behind %d other parts of a schema are %s', async (parts, shown) => {
    const issue = { message: 'x', path: ['age'] };
    const schema = {
      ...{ parts: Array.from({ length: parts }, () => ({})), last: { shape: { age: {} } } },
      '~standard': { version: 1, vendor: 'zod', validate: () => ({ issues: [issue] }) },
    } as StandardSchema;
    expect(await pathsOf(schema, { age: 1 })).toEqual([shown]);
  });

  it('show an index of up to 9,999, and no higher number, as it may be an id', async () => {
    const issues = [9_999, 10_000].map((index) => ({ message: 'x', path: [index] }));
    expect(await pathsOf(foreign(...issues), [])).toEqual(['9999', '[key]']);
  });

  it.each<[string, unknown, PropertyKey[], string]>([
    ['top-level names in camel case', { firstName: 1 }, ['firstName'], 'firstName'],
    ['no inner names', { firstName: { age: 1 } }, ['firstName', 'age'], 'firstName.[key]'],
    ['no other keys', { 'ada lovelace': 1 }, ['ada lovelace'], '[key]'],
    ['no symbols', { age: 1 }, [Symbol('age')], '[key]'],
    ['no key that the payload has not', [{ age: 1 }], [0, 'age'], '0.[key]'],
  ])('of another library show %s', async (_what, payload, path, shown) => {
    expect(await pathsOf(foreign({ message: 'x', path }), payload)).toEqual([shown]);
  });
});

describe('a context', () => {
  it('keeps every property in a spread', async () => {
    const contexts: HandlerContext[] = [];
    const { send } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, context: HandlerContext) =>
          void contexts.push(context, { ...context }),
      },
    });
    expect(await send(STARTED)).toBe('handled');
    const [context, spread] = contexts as [HandlerContext, HandlerContext];
    expect(Object.keys(spread).sort()).toEqual(
      [
        'attempt',
        'body',
        'payload',
        'call',
        'completeIn',
        'key',
        'log',
        'queued',
        'rawBody',
        'receivedAt',
        'secretId',
        'signal',
        'source',
        'timestamp',
        'webhookId',
      ].sort(),
    );
    expect(spread.signal).toBe(context.signal);
    expect(spread).toMatchObject({ webhookId: context.webhookId, body: STARTED, attempt: 1 });
    expect(spread.rawBody).toBe(context.rawBody);
  });

  it('says whether the delivery waited in a queue', async () => {
    const queued: boolean[] = [];
    const on = {
      'call:started': (_event: unknown, context: HandlerContext) =>
        void queued.push(context.queued),
    };
    await createTestReceiver({ on }).send(STARTED);
    const body = toBase64(bytes(JSON.stringify(STARTED)));
    await createJobProcessor({ on })({
      ...{ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body },
    });
    expect(queued).toEqual([false, true]);
  });
});
