import { expect, it } from '@jest/globals';
import { bodyMatcher, contentOf, isShortNumber } from '../../src/internal.ts';

const has = (search: string, body: unknown) => bodyMatcher(search)?.(body);

it.each([
  ['+1 555 010-4477', { toPhoneNumber: '+15550104477' }],
  ['15550104477', { phone: '+1 (555) 010-4477' }],
  ['0171 5550123', { phone: '+491715550123' }],
  ['+49 171 5550123', { phone: '01715550123' }],
  ['0049 171 5550123', { phone: '+491715550123' }],
  ['555010447', { deep: [{ phone: ['+1555010447'] }] }],
  ['+15550104477', { phone: 15550104477 }],
  ['+15550104477', { note: 'Call back at 555-010-4477 tomorrow.' }],
  ['55501', { extension: '55501' }],
  ['ada@example.com', { email: 'Ada@Example.COM' }],
  ['ADA@example.com', { note: 'Write to <ada@example.com>.' }],
  ['Ada Lovelace', { toName: 'ada  LOVELACE' }],
  ['lovelace', { toName: 'Dr. Ada Lovelace' }],
  ['ada lovelace', { first: 'Ada', last: 'Lovelace' }],
  ['ada lovelace', { last: 'Lovelace', first: 'Ada' }],
  ['José', { name: 'JOSE\u0301' }],
  ['Ada Lovelace', { 'Ada Lovelace': 3 }],
  ['Ada Lovelace', 'name=Ada Lovelace'],
])('%j is found in %j', (search, body) => {
  expect(has(search, body)).toBe(true);
});

it.each([
  ['+15550104477', { phone: '+15550104478' }],
  ['5550104', { phone: '+15555550104' }],
  ['15550104477', { phone: '10104477' }],
  ['ada@example.com', { email: 'nada@example.com' }],
  ['ada@example.com', { email: 'x.ada@example.com' }],
  ['ada@example.com', { email: 'ada@example.com.au' }],
  ['Ann', { name: 'Anna' }],
  ['ada lovelace', { first: 'Ada', middle: 'M.', last: 'Lovelace' }],
  ['a.c', { name: 'abc' }],
  ['Ada', { name: null, is: true, list: [] }],
])('%j is not found in %j', (search, body) => {
  expect(has(search, body)).toBe(false);
});

/** One number, as people and services write it. */
const SPELLINGS = [
  ...['+49 (0)171 5550123', '+4901715550123', '0049171 5550123', '0049 (0) 171 / 555 01 23'],
  ...['0171 5550123', '+491715550123', '(+49) 171\u20135550123', '1715550123'],
];
it.each(SPELLINGS.flatMap((search) => SPELLINGS.map((written) => [search, written])))(
  'the number %j is found as %j, alone and in a note',
  (search, written) => {
    expect(has(search, { phone: written })).toBe(true);
    expect(has(search, { note: `Call back at ${written}, please.` })).toBe(true);
  },
);

it.each([
  ['+1 212 555 0123', '+1 312 555 0123'],
  ['212 555 0123', '312 555 0123'],
  ['+49 171 5550123', '+49 172 5550123'],
  ['+49 171 5550123', '+43 171 5550123'],
  ['5550123', '+49 171 5550123'],
])('the number %j is another one than %j', (search, written) => {
  expect(has(search, { phone: written })).toBe(false);
  expect(has(written, { phone: search })).toBe(false);
});

it.each([
  ['Lovelace, Ada', { name: 'Ada Lovelace' }],
  ['Ada Lovelace', { name: 'Lovelace, Ada' }],
  ['"Ada Lovelace"', { first: 'Ada', last: 'Lovelace' }],
  ["'ada@example.com'", { email: 'ada@example.com' }],
])('%j is found in %j', (search, body) => {
  expect(has(search, body)).toBe(true);
});

it.each(['', ' ', '4477', '+', 'a', '00000', '!!'])('%j would find too much', (search) => {
  expect(bodyMatcher(search)).toBeUndefined();
});

it.each([
  ['12345', true],
  ['(0) 5550-1234', true],
  ['555012345', false],
  ['Ada', false],
  ['ada5@example.com', false],
])('whether %j is a number that is found only in full: %j', (search, expected) => {
  expect(isShortNumber(search)).toBe(expected);
});

it('a body that is no JSON is searched as text, and one of any depth in no time', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(has('Ada', contentOf(bytes('name=Ada')))).toBe(true);
  expect(has('Ada', contentOf(bytes('{"name":"\\u0041da"}')))).toBe(true);
  const deep = contentOf(bytes(`${'['.repeat(5_000)}"Ada"${']'.repeat(5_000)}`));
  expect(has('ada', deep)).toBe(true);
  const started = process.cpuUsage();
  expect(has('+15550104477', '1 '.repeat(100_000))).toBe(false);
  expect(has('aa', 'a'.repeat(500_000))).toBe(false);
  expect(process.cpuUsage(started).user).toBeLessThan(1_000_000); // microseconds
});
