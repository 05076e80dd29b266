import { beforeAll, describe, expect, test } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { memoryDeadLetters } from '@call-webhooks/core';
import { causesOf, filterOf, lettersOf, type LetterQuery } from '../src/store/letters.ts';
import { matchersOf } from '../src/input/values.ts';

// Which dead letters each flag means, in a store that has two of everything.

const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 3, minute));
const TENANTS = ['acme', undefined] as const;
const EVENTS = ['call:started', 'call:completed'] as const;
const REASONS = ['handler-failed', 'invalid-payload'] as const;

/** The names of all letters, such as `acme started handler-failed`. */
const names: string[] = [];
const deadLetters = memoryDeadLetters({ now: () => 0 });
const nameOf = new Map<string, string>();

beforeAll(async () => {
  for (const tenant of TENANTS)
    for (const eventName of EVENTS)
      for (const reason of REASONS) {
        const name = `${tenant ?? 'none'} ${eventName.slice(5)} ${reason}`;
        const number = names.push(name);
        await deadLetters.put(
          deadLetter({
            ...{ eventName, reason, failedAt: at(number), webhookId: `w${number}` },
            ...{ callId: `c${number}`, key: `k${number}` },
            errorText: tenant === undefined ? 'Error: no id' : 'Error: down',
            rawBody: Buffer.from(JSON.stringify({ phone: `+49 171 555012${number}` })),
            ...(tenant !== undefined && { tenant }),
          }),
        );
      }
  const { letters } = await deadLetters.list();
  for (const [place, { id }] of letters.entries()) nameOf.set(id, names[place] ?? '');
});

const idsOf = async (query: LetterQuery) => {
  const found: string[] = [];
  for await (const { id } of lettersOf(deadLetters, query)) found.push(nameOf.get(id) ?? '');
  return found;
};
const having = (...words: string[]) =>
  names.filter((name) => words.every((word) => name.split(' ').includes(word)));

const ROWS: readonly (readonly [query: LetterQuery, found: () => string[]])[] = [
  [{}, () => names],
  [{ tenant: 'acme' }, () => having('acme')],
  [{ tenant: 'acm' }, () => []],
  [{ event: 'call:started' }, () => having('started')],
  [{ event: 'started' }, () => []],
  [{ reason: 'invalid-payload' }, () => having('invalid-payload')],
  [{ since: at(3) }, () => names.slice(2)],
  [{ until: at(3) }, () => names.slice(0, 2)],
  [{ since: at(3), until: at(4) }, () => names.slice(2, 3)],
  [{ tenant: 'acme', event: 'call:started' }, () => having('acme', 'started')],
  [{ tenant: 'acme', reason: 'handler-failed' }, () => having('acme', 'handler-failed')],
  [{ event: 'call:completed', since: at(5) }, () => names.slice(6)],
  [{ event: 'call:completed', until: at(5) }, () => names.slice(2, 4)],
];

test.each(ROWS)('%j', async (query, found) => {
  expect(await idsOf(query)).toEqual(found());
});

test('one cause, by the beginning of its id, and those of each tenant alone', async () => {
  const { causes, isWhole } = await causesOf(deadLetters, {});
  expect([isWhole, causes.map(({ text, count }) => [text, count])]).toEqual([
    true,
    expect.arrayContaining([
      ['Error: down', 4],
      ['Error: no id', 4],
    ]),
  ]);
  for (const { id, text } of causes) {
    const own = text === 'Error: down' ? names.slice(0, 4) : names.slice(4);
    for (const cause of [id, id.slice(0, 4)]) expect(await idsOf({ cause })).toEqual(own);
    expect(await idsOf({ cause: id, event: 'call:started' })).toEqual(own.slice(0, 2));
  }
  const of = await causesOf(deadLetters, { tenant: 'acme' });
  expect(of.causes.map(({ text, count }) => [text, count])).toEqual([['Error: down', 4]]);
});

test('letters whose body has one of the values, together with other flags', async () => {
  const values = ['+49 171 5550122', '0171 5550127'].map((text, line) => ({ text, line }));
  const matchers = matchersOf(values);
  expect(await idsOf({ matchers })).toEqual([names[1], names[6]]);
  expect(await idsOf({ matchers, tenant: 'acme' })).toEqual([names[1]]);
  expect(await idsOf({ matchers: [] })).toEqual([]);
});

describe('the filter that a store applies', () => {
  const none = {
    ...{ eventName: undefined, reason: undefined, since: undefined },
    ...{ until: undefined, tenant: undefined },
  };
  test.each<[LetterQuery, object | undefined]>([
    [{}, undefined],
    [{ cause: 'abcd' }, undefined],
    [{ contains: '-' }, undefined],
    [{ event: 'a' }, { ...none, eventName: 'a' }],
    [{ reason: 'handler-failed' }, { ...none, reason: 'handler-failed' }],
    [{ since: at(1) }, { ...none, since: at(1) }],
    [{ until: at(1) }, { ...none, until: at(1) }],
    [{ tenant: 'a' }, { ...none, tenant: 'a' }],
  ])('of %j is %j', (query, filter) => {
    expect(filterOf(query)).toEqual(filter);
  });

  test.each([
    [at(2), at(1)],
    [at(1), at(1)],
  ])('is refused from %j to %j, which is no window', (since, until) => {
    expect(() => filterOf({ since, until })).toThrow('--since has to be before --until.');
  });
});
