import { describe, expect, it } from '@jest/globals';
import { memoryDeadLetters, type DeadLetter, type DeadLetters } from '@call-webhooks/core';
import { deadLetterId } from '@call-webhooks/core/stores';
import type { DeadLetterDetail, DeadLettersPage, PersonFound } from '../src/api-types.ts';
import { callBody, NOW, open, wrote } from './support.ts';

const ADA = { name: 'Ada Lovelace' };
const letterOf = (callId: string, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ reason: 'handler-failed', eventName: 'call:completed', callId, attempt: 3 },
  ...{ webhookId: `w-${callId}`, key: `${callId}:call:completed`, source: 'webhook' },
  rawBody: new TextEncoder().encode(callBody(callId, 'call:completed', ADA)),
  ...{ timestamp: new Date(NOW - 5_000), failedAt: new Date(NOW), error: undefined },
  errorText: 'the CRM is down',
  ...more,
});

async function withLetters(letters: readonly DeadLetter[]) {
  const deadLetters = memoryDeadLetters();
  for (const letter of letters) await deadLetters.put(letter);
  const opened = open({ deadLetters });
  const list = () => opened.get<DeadLettersPage>('/api/dead-letters');
  const search = (more: object = {}) =>
    opened.post<PersonFound>('/api/dead-letters/search', { about: ADA.name, ...more });
  return { ...opened, deadLetters, list, search };
}

describe('a search for a person among letters of the same millisecond', () => {
  const ninety = () => withLetters(Array.from({ length: 90 }, (_, at) => letterOf(`c${at}`)));
  const idsOf = (...pages: PersonFound[]) =>
    pages.flatMap(({ letters }) => letters).map(({ id }) => id);

  it('finds each of them once over its pages', async () => {
    const { search } = await ninety();
    const first = await search();
    const second = await search({ before: first.before });
    expect(new Set(idsOf(first, second)).size).toBe(90);
    expect(idsOf(first, second)).toHaveLength(90);
    expect(second).not.toHaveProperty('before');
  });

  it('loses none when the letter is removed that a page ended with', async () => {
    const { search, deadLetters } = await ninety();
    const first = await search();
    await deadLetters.remove(first.letters.at(-1)!.id);
    const pages = [first];
    for (let before = first.before; before !== undefined && pages.length < 5;) {
      pages.push(await search({ before }));
      before = pages.at(-1)!.before;
    }
    expect(new Set(idsOf(...pages)).size).toBe(90);
  });
});

it('a search for a person keeps to the cause that was chosen', async () => {
  const { list, search } = await withLetters([
    letterOf('c1'),
    letterOf('c2', { errorText: 'the disk is full' }),
  ]);
  const { causes } = await list();
  for (const { id, text } of causes) {
    const { letters } = await search({ cause: id });
    expect(letters.map(({ error }) => error)).toEqual([text]);
  }
});

describe('of more letters than are read', () => {
  const COUNT = 12_000;
  const kept = Array.from({ length: COUNT }, (_, index) => ({
    ...{ ...letterOf(`c${index}`), id: `l${index}`, bytes: 2, error: 'no', history: [] },
    failedAt: new Date(NOW + 10 * index),
  }));
  const from = (since = new Date(0)) => kept.filter(({ failedAt }) => failedAt >= since);
  const deadLetters: DeadLetters = {
    ...memoryDeadLetters(),
    count: async ({ since } = {}) => from(since).length,
    async list({ since, cursor = '0', limit = 100 } = {}) {
      const end = Number(cursor) + limit;
      const letters = from(since);
      const more = end < letters.length && { cursor: String(end) };
      return { letters: letters.slice(Number(cursor), end), ...more };
    },
    get: async (id) => kept.find((one) => one.id === id),
  };

  it('a page tells how old the oldest is, which is not among those that were read', async () => {
    const { get } = open({ deadLetters });
    expect(await get('/api/dead-letters')).toMatchObject({ total: COUNT, oldestAt: NOW });
  });

  it('a search for a person says that it can go on', async () => {
    const { post } = open({ deadLetters });
    const found = await post<PersonFound>('/api/dead-letters/search', {
      ...{ about: ADA.name, text: `c${COUNT - 1}:` },
    });
    expect(found.letters.map(({ callId }) => callId)).toEqual([`c${COUNT - 1}`]);
    expect(found.searched).toBeLessThan(COUNT);
    expect(found.before).toBeDefined();
  });
});

describe('a letter', () => {
  it('says until when a redrive has it, and then no more', async () => {
    const { list, deadLetters, post } = await withLetters([letterOf('c1')]);
    const [id] = (await deadLetters.list()).letters.map((letter) => letter.id);
    expect((await list()).letters[0]).not.toHaveProperty('claimedUntil');
    await deadLetters.claim(id!, { token: 'redrive', leaseMs: 60_000 });
    const until = Date.now() + 60_000;
    await post('/api/dead-letters/gone/remove'); // what was read a moment ago is read again
    const [claimed] = (await list()).letters;
    expect(Math.abs(claimed!.claimedUntil! - until)).toBeLessThan(5_000);
  });

  it('is in no list once it is removed, also if the list was read a moment ago', async () => {
    const { list, deadLetters, post } = await withLetters([letterOf('c1'), letterOf('c2')]);
    expect((await list()).total).toBe(2);
    const [letter] = (await deadLetters.list()).letters;
    expect(await post(`/api/dead-letters/${letter!.id}/remove`)).toEqual({ removed: true });
    expect(await list()).toMatchObject({ total: 1, letters: [{}] });
  });

  it('has a long error cut, wherever it is shown', async () => {
    const errorText = `Error: ${'x'.repeat(5_000)}`;
    const { list, get } = await withLetters([letterOf('c1', { errorText })]);
    const page = await list();
    const { id, error } = page.letters[0]!;
    const detail = await get<DeadLetterDetail>(`/api/dead-letters/${id}`);
    for (const shown of [error, page.causes[0]!.example.error, detail.history[0]!.error])
      expect(shown.length).toBeLessThanOrEqual(2_000);
  });

  it.each([
    ['by its key', { key: 'c1:call:completed' }],
    ['by its webhook id, since it has no key', { webhookId: 'w-c1' }],
  ])(
    'has the earlier attempts of its own event that failed, and neither later nor other ones: %s',
    async (_how, own) => {
      const { key: _key, ...keyless } = letterOf('c1');
      const letter = { ...keyless, ...own };
      const { get, log } = await withLetters([letter]);
      const of = { ...own, error: 'The handler failed: first' } as const;
      const other = { ...('key' in own && { key: 'c2:call:completed' }), webhookId: 'w-c2' };
      await wrote(log, [{ ...other, outcome: 'handler-failed', at: NOW - 950_000, attempt: 1 }]);
      const failed = { ...of, outcome: 'handler-failed' } as const;
      await wrote(log, [{ ...failed, at: NOW - 900_000, attempt: 1 }]);
      await wrote(log, [{ ...failed, at: NOW - 600_000, attempt: 2, error: 'second' }]);
      await wrote(log, [{ ...own, outcome: 'queued', at: NOW - 400_000, attempt: 2 }]);
      // It failed once more since, which its history does not have yet.
      await wrote(log, [{ ...failed, at: NOW + 60_000, attempt: 2, error: 'later' }]);
      const detail = await get<DeadLetterDetail>(`/api/dead-letters/${await deadLetterId(letter)}`);
      expect(detail.history.map(({ attempt, error }) => [attempt, error])).toEqual([
        [1, 'first'],
        [2, 'second'],
        [3, 'the CRM is down'],
      ]);
    },
  );
});
