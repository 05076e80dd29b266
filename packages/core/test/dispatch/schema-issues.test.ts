import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Routes } from '../../src/events/route.ts';
import type { HandlerOptions } from '../../src/index.ts';
import { bytes } from '../support.ts';

const handler = () => undefined;
const find = async (payload: unknown, options: unknown = {}) =>
  new Routes(options as HandlerOptions).find(bytes(JSON.stringify(payload)));

describe('the issues of a schema', () => {
  it('never tells what a schema says of the values, nor the keys of a record', async () => {
    const record = { schema: z.object({ c: z.record(z.string(), z.number()) }), handle: handler };
    const throwing = z.object({ name: z.string() }).refine(({ name }) => {
      throw new Error(`bad name ${name}`);
    });
    const told: unknown[] = await Promise.all([
      find({ c: { 'Ada Lovelace': 'x' } }, { custom: record }).catch(String),
      find({ name: 'Ada Lovelace' }, { custom: { schema: throwing, handle: handler } }).catch(
        String,
      ),
    ]);
    expect(told).toContainEqual(expect.stringContaining('The schema failed'));
    expect(JSON.stringify(told)).not.toMatch(/Ada|Lovelace/);
  });

  it('tells what a schema objects to, with values only if they are asked for', async () => {
    const schema = z.object({
      name: z.literal('Bob', { error: ({ input }) => `not Bob: ${String(input)}` }),
    });
    const options = { events: { 'call:new': schema }, on: { 'call:new': handler } };
    const event = { eventName: 'call:new', name: 'Ada Lovelace' };
    await expect(find(event, options)).rejects.toMatchObject({
      eventName: 'call:new',
      message: 'The payload does not match its schema: name: not Bob: [redacted].',
      issues: [{ path: 'name', message: 'not Bob: [redacted]' }],
    });
    await expect(find(event, { ...options, includeSchemaValues: true })).rejects.toMatchObject({
      issues: [{ path: 'name', message: 'not Bob: Ada Lovelace' }],
    });
  });

  /** The issues of a payload whose schema objects to it with this message. */
  const issuesOf = async (message: string, payload: object, path: PropertyKey[] = []) => {
    const schema = z.any().superRefine((_value, context) => {
      context.addIssue({ code: 'custom', message, path });
    });
    const refused: unknown = await find(payload, { custom: { schema, handle: handler } }).catch(
      (error: unknown) => error,
    );
    return (refused as { issues: { path: string; message: string }[] }).issues;
  };

  it('shows the names that a schema declares, and no other keys', async () => {
    const person = z.object({ age: z.number() });
    const schema = z.strictObject({
      people: z.record(z.string(), person),
      list: z.array(person.nullish()),
    });
    const payload = {
      people: { lovelace: { age: 'x' }, Ada_King: 1 },
      list: [{ age: 'x' }],
      Turing: 1,
    };
    const custom = { schema, handle: handler };
    const refused: unknown = await find(payload, { custom }).catch((error: unknown) => error);
    const { issues } = refused as { issues: { path: string; message: string }[] };
    expect(issues.map(({ path }) => path)).toEqual([
      'people.[key].age',
      'people.[key]',
      'list.0.age',
      '',
    ]);
    expect(issues[0]?.message).toContain('expected number');
    expect(issues[3]?.message).toBe('Unrecognized key: "[redacted]"');
    expect(String(refused)).not.toMatch(/lovelace|king|turing/i);
  });

  it('shows no keys of a record that is the whole payload', async () => {
    const custom = { schema: z.record(z.string(), z.number()), handle: handler };
    await expect(find({ lovelace: 'x' }, { custom })).rejects.toMatchObject({
      issues: [{ path: '[key]' }],
    });
  });

  it.each([
    ['a value as JSON', `must be a number (was ${JSON.stringify('Ada\nLovelace')})`],
    ['the beginning of a note', 'got Ada Byron asked us'],
    ['a short word of a note', 'got Ada'],
    ['a part of an address', 'got adabyr'],
    ['a part of a word', 'gotlovela'],
    ['a part of a name without spaces', 'got 李'],
    ['a key', 'no turing here'],
    ['more than 500 characters', 'a long message '.repeat(40)],
  ])('withholds a message that quotes %s', async (_what, message) => {
    const payload = {
      name: 'Ada\nLovelace',
      note: 'Ada Byron asked us to call her back tomorrow about the big offer',
      email: 'adabyron@example.com',
      client: '李明',
      turing: 1,
    };
    const [issue] = await issuesOf(message, payload, ['turing', 'name']);
    expect(issue?.path).toBe('[key].[key]');
    expect(issue?.message).not.toMatch(/ada|lovel|byr|李|turing|long/i);
  });

  it('gives the code of a withheld message, and keeps a message that quotes nothing', async () => {
    const payload = { email: 'adabyron@example.com' };
    expect(await issuesOf('got adabyr', payload)).toEqual([
      { path: '', message: '[message withheld: it may quote the payload] custom' },
    ]);
    expect(await issuesOf('must be of our company', payload)).toEqual([
      { path: '', message: 'must be of our company' },
    ]);
  });

  it('withholds messages about a payload that is too long to search', async () => {
    const [issue] = await issuesOf('is wrong', { note: 'x'.repeat(100_001) });
    expect(issue?.message).toMatch(/^\[message withheld/);
  });

  it('shows only top-level names in camel case of a schema that cannot be read', async () => {
    const path = ['firstName', 'lovelace'];
    const validate = () => ({
      issues: [
        { message: 'x', path },
        { message: 'y', path: ['Ada'] },
      ],
    });
    const schema = { '~standard': { version: 1, vendor: 'test', validate } };
    const payload = { firstName: { lovelace: 1 }, Ada: 2 };
    await expect(find(payload, { custom: { schema, handle: handler } })).rejects.toMatchObject({
      issues: [{ path: 'firstName.[key]' }, { path: '[key]' }],
    });
  });

  it('keeps values on one line of limited length', async () => {
    const schema = z.object({ name: z.literal('x', { error: ({ input }) => String(input) }) });
    const options = { custom: { schema, handle: handler }, includeSchemaValues: true };
    const name = `x\ncall-webhooks: 200 \u001b[31m${'y'.repeat(600)}`;
    await expect(find({ name }, options)).rejects.toMatchObject({
      issues: [{ message: `${'x call-webhooks: 200  [31m'.padEnd(500, 'y')}…` }],
    });
  });
});
