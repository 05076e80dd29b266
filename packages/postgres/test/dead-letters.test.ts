import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { MAX_FAILURES, toRecord, type DeadLetterQuery } from '@call-webhooks/core/stores';
import { postgresDeadLetters, type PostgresDeadLetters } from '../src/index.ts';
import { deadLetterStatements } from '../src/statements.ts';
import { recordingClient } from './recording-client.ts';

const SQL = deadLetterStatements('call_webhooks');
const END_OF_TIME = 8.64e15;
const FAILED_AT = new Date(1_700_000_000_000);
const LETTER = deadLetter({ failedAt: FAILED_AT, eventName: 'call:completed', tenant: 'acme' });

/** The row of the letter, under an id. */
async function row(id: string, claimedUntil: number | null = null) {
  const { letter, body, failure } = await toRecord(LETTER);
  return { id, letter, body, failures: [failure], claimedUntil };
}

function opened(answer: unknown = []) {
  const { client, calls } = recordingClient(() => answer);
  const asked = () => calls.map(({ text, values }) => [text, values]);
  return { letters: postgresDeadLetters(client), asked };
}

describe('a dead letter', () => {
  it('is put with what it is found by, and the number of failures that are kept', async () => {
    const { letters, asked } = opened(true);
    await letters.put(LETTER);
    const { id, letter, body, failure } = await toRecord(LETTER);
    expect(asked()).toEqual([
      [
        SQL.put,
        [
          ...[id, FAILED_AT.getTime(), 'handler-failed', 'call:completed', 'acme'],
          ...[letter, failure, MAX_FAILURES, body],
        ],
      ],
    ]);
  });

  it('is not believed to be kept without a row', async () => {
    await expect(opened(false).letters.put(LETTER)).rejects.toEqual(
      new Error('Postgres did not store the dead letter.'),
    );
  });

  it('is read with its failures, and until when it is claimed', async () => {
    const { letters, asked } = opened([await row('a', 1_700_000_000_123)]);
    const letter = await letters.get('a');
    expect(letter).toMatchObject({
      ...{ id: 'a', key: LETTER.key, rawBody: LETTER.rawBody, failedAt: FAILED_AT },
      ...{ attempt: 3, error: 'Error: the CRM is down' },
      history: [{ at: FAILED_AT, attempt: 3 }],
      claimedUntil: new Date(1_700_000_000_123),
    });
    expect(asked()).toEqual([[SQL.get, ['a']]]);
    expect(await opened([await row('a')]).letters.get('a')).not.toHaveProperty('claimedUntil');
    expect(await opened().letters.get('a')).toBeUndefined();
  });

  it('is claimed for a time', async () => {
    const { letters, asked } = opened([await row('a', 5)]);
    const claimed = await letters.claim('a', { token: 'token', leaseMs: 60_000 });
    expect(claimed).toMatchObject({ id: 'a', claimedUntil: new Date(5) });
    expect(asked()).toEqual([[SQL.claim, ['a', 'token', 60_000]]]);
    expect(await opened().letters.claim('a', { token: 'token', leaseMs: 60_000 })).toBeUndefined();
  });

  const failure = { at: new Date(5), source: 'redrive', attempt: 4, error: 'down' } as const;
  it.each<[string, (letters: PostgresDeadLetters) => Promise<boolean>, string, unknown[]]>([
    ['is removed', (letters) => letters.remove('a'), SQL.remove, ['a']],
    ['is kept longer', (letters) => letters.extend('a', 't', 5), SQL.extend, ['a', 't', 5]],
    ['is settled', (letters) => letters.settle('a', 't'), SQL.settle, ['a', 't']],
    ['is given back', (letters) => letters.giveBack('a', 't'), SQL.release, ['a', 't']],
    [
      'is given back with a failure',
      (letters) => letters.giveBack('a', 't', failure),
      SQL.fail,
      ['a', 't', 5, JSON.stringify({ ...failure, at: 5 }), MAX_FAILURES],
    ],
  ])('%s, which tells whether there was a row', async (_what, call, text, values) => {
    const { letters, asked } = opened(true);
    expect(await call(letters)).toBe(true);
    expect(await call(opened(false).letters)).toBe(false);
    const [[askedText, askedValues] = []] = asked();
    expect(askedText).toBe(text);
    expect(askedValues).toEqual(values);
    await expect(call(opened([]).letters)).rejects.toThrow('an unexpected answer');
  });
});

describe('a list of dead letters', () => {
  it('is of all, with one more than the limit, to know whether there are more', async () => {
    const { letters, asked } = opened([await row('a'), await row('b')]);
    const { letters: page, cursor } = await letters.list();
    expect(page.map(({ id }) => id)).toEqual(['a', 'b']);
    expect(cursor).toBeUndefined();
    expect(asked()).toEqual([[SQL.list, [0, END_OF_TIME, null, null, null, -1, '', 101]]]);
  });

  it('is of what is asked for, and goes on after its last letter', async () => {
    const filter: DeadLetterQuery = {
      ...{ since: new Date(5), until: new Date(9), eventName: 'call:completed' },
      ...{ reason: 'handler-failed', tenant: 'acme' },
    };
    const { letters, asked } = opened([await row('a'), await row('b')]);
    const { letters: page, cursor } = await letters.list({ ...filter, limit: 1 });
    expect(page.map(({ id }) => id)).toEqual(['a']);
    await letters.list({ ...filter, cursor, limit: 1 });
    const values = [5, 9, 'call:completed', 'handler-failed', 'acme'];
    expect(asked()).toEqual([
      [SQL.list, [...values, -1, '', 2]],
      [SQL.list, [...values, FAILED_AT.getTime(), 'a', 2]],
    ]);
  });

  it('is counted', async () => {
    const { letters, asked } = opened(7);
    expect(await letters.count({ tenant: 'acme' })).toBe(7);
    expect(await opened(0).letters.count()).toBe(0);
    expect(asked()).toEqual([[SQL.count, [0, END_OF_TIME, null, null, 'acme']]]);
  });

  it.each([null, true, {}, 'a', ['a'], [{ id: 'a' }], [{ id: 'a', letter: 'b', failures: 'c' }]])(
    'is not believed to be empty where the answer is %j',
    async (odd) => {
      const { letters } = opened(odd);
      for (const call of [() => letters.list(), () => letters.get('a'), () => letters.count()])
        await expect(call()).rejects.toThrow('an unexpected answer');
    },
  );
});
