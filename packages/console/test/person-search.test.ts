import { describe, expect, it } from '@jest/globals';
import type { DeadLetter } from '@call-webhooks/core';
import { memoryDeadLetters } from '@call-webhooks/core';
import type { PersonFound } from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { codeOf, NOW, open, type Options } from './support.ts';

/** The letter of a call whose body has this. */
const letterOf = (callId: string, body: object | string, more: Partial<DeadLetter> = {}) => ({
  ...{ reason: 'handler-failed' as const, eventName: 'call:completed', callId, attempt: 1 },
  ...{ webhookId: `w-${callId}`, key: `${callId}:call:completed`, source: 'webhook' as const },
  rawBody: new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body)),
  ...{ timestamp: new Date(NOW), failedAt: new Date(NOW), error: undefined, errorText: 'no' },
  ...more,
});

async function withLetters(letters: readonly DeadLetter[], options: Options = {}) {
  const deadLetters = memoryDeadLetters();
  for (const letter of letters) await deadLetters.put(letter);
  const opened = open({ deadLetters, ...options });
  const search = (body: object) => opened.post<PersonFound>('/api/dead-letters/search', body);
  const calls = async (body: object) => (await search(body)).letters.map(({ callId }) => callId);
  return { ...opened, deadLetters, search, calls };
}

const at = (seconds: number) => ({ failedAt: new Date(NOW + seconds * 1_000) });

describe('api/dead-letters/search', () => {
  it('finds a phone number, an email address and a name in bodies, newest first', async () => {
    const { calls, search } = await withLetters([
      letterOf('c1', { toPhoneNumber: '+491715550123' }, at(1)),
      letterOf('c2', { contact: { name: 'Ada Lovelace', phone: '0171 5550123' } }, at(2)),
      letterOf('c3', 'name=ADA LOVELACE', at(3)),
      letterOf('c4', { email: 'ada@lovelace.example', phone: '+4917155501234' }, at(4)),
    ]);
    expect(await calls({ about: '+49 171 5550123' })).toEqual(['c2', 'c1']);
    expect(await calls({ about: 'Ada Lovelace' })).toEqual(['c3', 'c2']);
    expect(await calls({ about: 'ADA@lovelace.example' })).toEqual(['c4']);
    expect(await search({ about: '5550123' })).toMatchObject({ letters: [], inFullOnly: true });
    expect(await search({ about: 'Grace' })).toEqual({
      ...{ letters: [], searched: 4, searchedTo: NOW + 1_000 },
    });
  });

  it('keeps to the filters, and goes on where a page ended', async () => {
    const { calls, search, deadLetters } = await withLetters(
      Array.from({ length: 90 }, (_, index) =>
        letterOf(
          `c${String(index)}`,
          { name: 'Ada' },
          { ...at(Math.floor(index / 2)), tenant: index % 3 === 0 ? 'acme' : 'other' },
        ),
      ),
    );
    expect(await calls({ about: 'Ada', tenant: 'acme', text: 'c9:' })).toEqual(['c9']);
    const first = await search({ about: 'Ada' });
    expect(first.before).toBeDefined();
    const next = await search({ about: 'Ada', before: first.before });
    const ids = [...first.letters, ...next.letters].map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([90, 90]);
    const { id } = first.letters.at(-1)!;
    await deadLetters.remove(id); // a letter of the first page, on which the second one must not depend
    const second = await search({ about: 'Ada', before: first.before });
    const all = [...first.letters, ...second.letters].map(({ callId }) => callId);
    expect(new Set(all).size).toBe(90);
    expect(second.before).toBeUndefined();
  });

  it('goes on after letters of one millisecond, also when the last one was removed', async () => {
    const { search, deadLetters } = await withLetters(
      Array.from({ length: 100 }, (_, index) => letterOf(`c${index}`, { name: 'Ada' }, at(1))),
    );
    const first = await search({ about: 'Ada' });
    await deadLetters.remove(first.letters.at(-1)!.id);
    const found = new Set(first.letters.map(({ callId }) => callId));
    expect(found.size).toBeLessThan(100);
    for (let { before } = first; before !== undefined;) {
      const next = await search({ about: 'Ada', before });
      for (const { callId } of next.letters) found.add(callId);
      before = next.before;
    }
    expect(found.size).toBe(100);
  });

  it('is logged, without whom it was for; and nothing of that is in an answer', async () => {
    const actions: ConsoleAction[] = [];
    const options = { onAction: (action: ConsoleAction) => actions.push(action) };
    const opened = await withLetters([letterOf('c1', { name: 'Ada' })], options);
    const { search, send, logger } = opened;
    expect(JSON.stringify(await search({ about: 'Ada' }))).not.toContain('Ada');
    expect(actions).toEqual([{ action: 'search', by: 'Ada' }]);
    expect(logger.lines.join()).toContain('Ada searched the dead letters for a person');
    await send('/api/dead-letters/search', { about: 'Grace Hopper', nonsense: 1 });
    opened.deadLetters.get = () => Promise.reject(new Error('down'));
    const failed = await send('/api/dead-letters/search', { about: 'Grace Hopper' });
    expect([failed.status, await codeOf(failed)]).toEqual([503, 'store-unavailable']);
    expect(JSON.stringify(logger)).not.toContain('Grace');
  });

  it.each(['', '4477', 'a', '+'])('refuses %j, which would find too much', async (about) => {
    const { send } = await withLetters([]);
    const response = await send('/api/dead-letters/search', { about });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(
      'about: expected a phone number of at least five digits',
    );
  });

  it('takes no address: neither a GET nor a query', async () => {
    const { ask, send } = await withLetters([]);
    expect((await ask('/api/dead-letters/search?about=Ada')).status).toBe(405);
    expect((await send('/api/dead-letters/search', { about: 'Ada', before: 'x' })).status).toBe(
      400,
    );
  });

  it.each([{ readOnly: true }, { authorize: () => ({ name: 'Bob', canWrite: false }) }])(
    'is refused to those who may not see personal data (%j)',
    async (options) => {
      const { send } = await withLetters([letterOf('c1', { name: 'Ada' })], options);
      expect((await send('/api/dead-letters/search', { about: 'Ada' })).status).toBe(403);
    },
  );
});
