import * as v from 'valibot';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { payloadIssues, type SchemaIssue } from '../../src/events/schema.ts';

const schemaOf = (vendor: string, parts: object = {}) => ({ '~standard': { vendor }, ...parts });
const FOREIGN = schemaOf('test');
const WITHHELD = '[message withheld: it may quote the payload]';
const LONG_NOTE = { note: 'Please call Eve before she leaves for her trip.' };

type Schema = Parameters<typeof payloadIssues>[0];

/** What is shown of the path of an issue. */
const shownPath = (path: SchemaIssue['path'], payload: unknown = {}, schema: Schema = FOREIGN) =>
  payloadIssues(schema, [{ message: 'x', path }], payload, false)[0]?.path;

/** What is shown of a message about a payload. */
const shown = (message: string, payload: unknown, schema: Schema = FOREIGN) =>
  payloadIssues(schema, [{ message }], payload, false)[0]?.message;

describe('the paths of issues', () => {
  it.each<[string, unknown, SchemaIssue['path'], string]>([
    ['nothing for the payload itself', {}, undefined, ''],
    ['an index of up to 9,999', [], [9_999], '9999'],
    ['no higher number, as it may be an id', [], [10_000], '[key]'],
    ['no symbol', { age: 1 }, [Symbol('age')], '[key]'],
    ['no key with a space', { 'ada lovelace': 1 }, ['ada lovelace'], '[key]'],
    ['no key where the payload is null', null, ['age'], '[key]'],
    ['no key where the payload is a list', [{ age: 1 }], [0, 'age'], '0.[key]'],
  ])('show %s', (_what, payload, path, expected) => {
    expect(shownPath(path, payload)).toBe(expected);
  });

  const Recursive = z.object({
    get parent() {
      return z.nullable(Recursive);
    },
    customer: z.object({ age: z.number() }),
  });

  it.each<[string, Schema]>([
    [
      'a default of null',
      v.object({
        before: v.nullable(v.string(), null),
        customer: v.object({ age: v.number() }),
      }),
    ],
    [
      'a default whose own shape is null',
      z.object({
        before: z.object({ shape: z.string().nullable() }).default({ shape: null }),
        customer: z.object({ age: z.number() }),
      }),
    ],
    ['the schema itself', Recursive],
  ])('show a name that is declared after %s', (_what, schema) => {
    expect(shownPath(['customer', 'age'], {}, schema)).toBe('customer.age');
  });

  it('show no name that is declared after 5,000 parts of a schema', () => {
    const last = { shape: { age: {} } };
    // The schema, its `~standard`, the list and the last part count as well.
    const withParts = (count: number) =>
      schemaOf('zod', { parts: [...Array.from({ length: count }, () => ({})), last] });
    expect(shownPath(['age'], {}, withParts(4_996))).toBe('age');
    expect(shownPath(['age'], {}, withParts(4_997))).toBe('[key]');
  });
});

describe('the messages of issues', () => {
  it.each<[string, string, unknown]>([
    ['a short word of a long note', 'got Eve', LONG_NOTE],
    ['four letters of a word', 'got love', { note: 'lovelace' }],
    ['some digits of a number', 'got 3456', { amount: 12_345_678 }],
    ['a short word behind a number', 'no1234567Eve', LONG_NOTE],
    ['a letter of a name amid others', '名前は李です', { client: '李明' }],
    ['an event id that is no text', 'got lovela', { eventId: { name: 'lovelace' } }],
    ['100,001 characters', 'is wrong', ['x'.repeat(100_001)]],
  ])('are withheld if they may quote %s', (_what, message, payload) => {
    expect(shown(message, payload)).toBe(WITHHELD);
  });

  it.each<[string, string, unknown]>([
    ['have no words', '?!', { note: 'here' }],
    ['have the name of the event', 'no fields of call:voicemail', { eventName: 'call:voicemail' }],
    ['have a number that is an index of a list', 'at least 12 items', Array(20).fill(null)],
    ['quote none of 100,000 characters', 'is wrong', ['x'.repeat(100_000)]],
  ])('are shown if they %s', (_what, message, payload) => {
    expect(shown(message, payload)).toBe(message);
  });

  it('are shown if they have a name that the schema declares', () => {
    const schema = z.object({ startDate: z.string() });
    expect(shown('must be after startDate', { startDate: 'x' }, schema)).toBe(
      'must be after startDate',
    );
  });

  it('are followed by a code where they are withheld', () => {
    const code = 'a'.repeat(40);
    const issues = [{ message: 'got lovela', code }];
    const [issue] = payloadIssues(FOREIGN, issues, { note: 'lovelace' }, false);
    expect(issue?.message).toBe(`${WITHHELD} ${code}`);
  });

  it.each<[string, unknown]>([
    ['that is missing', undefined],
    ['that is a number', 42],
    ['of capital letters', 'NOT_OK'],
    ['that begins with a capital letter', 'Not_ok'],
    ['that ends with a mark', 'not_ok!'],
    ['of 41 letters', 'a'.repeat(41)],
    ['that quotes the payload', 'not_lovelace'],
  ])('are followed by no code %s', (_what, code) => {
    const issues = [{ message: 'got lovela', code }];
    const [issue] = payloadIssues(FOREIGN, issues, { note: 'lovelace' }, false);
    expect(issue?.message).toBe(WITHHELD);
  });
});

describe('issues', () => {
  it.each([[false], [true]])('are no more than five (with values: %j)', (includeValues) => {
    const issues = Array<SchemaIssue>(6).fill({ message: '?' });
    expect(payloadIssues(FOREIGN, issues, {}, includeValues)).toHaveLength(5);
  });

  it('show the whole path if values are asked for', () => {
    const issues = [{ message: 'is wrong', path: ['people', { key: 'Ada' }, 10_000] }];
    expect(payloadIssues(FOREIGN, issues, {}, true)).toEqual([
      { path: 'people.Ada.10000', message: 'is wrong' },
    ]);
  });

  it('show nothing beyond the first 1,000 characters of a text', () => {
    const issues = [{ message: `${'\n'.repeat(1_000)}y` }];
    expect(payloadIssues(FOREIGN, issues, {}, true)[0]?.message).toBe(' ');
  });
});

describe('a message of a schema', () => {
  it('may have 500 characters', () => {
    const longest = 'must be '.padEnd(500, '=');
    expect(shown(longest, {})).toBe(longest);
    const [withValues] = payloadIssues(FOREIGN, [{ message: longest }], {}, true);
    expect(withValues?.message).toBe(longest);
  });

  it('is not withheld for what two values have together', () => {
    expect(shown('zq kwxv', { a: 'zq', b: 'kw', c: 'xv' })).toBe('[redacted] kwxv');
  });
});
