import { describe, expect, it } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { deadLetterId, MAX_FAILURES, toRecord } from '@call-webhooks/core/stores';
import { mysqlDeadLetters } from '../src/index.ts';
import { recordingPool, type Reply } from './recording-pool.ts';

function opened(reply: Reply = () => [[1]]) {
  const { pool, calls } = recordingPool(reply);
  return { letters: mysqlDeadLetters(pool), asked: calls };
}

const LETTER = deadLetter({ tenant: 'acme' });

/** A letter as the server has it, with these failures. */
async function row(claimedUntil: number | null, failures = 1) {
  const { letter, failure, body } = await toRecord(LETTER);
  const lines = Array.from({ length: failures }, () => failure).join('\n');
  const texts = [letter, lines].map((text) => Buffer.from(text));
  return [await deadLetterId(LETTER), ...texts, claimedUntil, Buffer.from(body)];
}

describe('a dead letter', () => {
  it('is put with what it is found by, and the number of failures that are kept', async () => {
    const { letters, asked } = opened(() => []);
    await letters.put(LETTER);
    const { id, failedAt, reason, eventName, tenant, letter, failure, body } =
      await toRecord(LETTER);
    expect(asked).toEqual([
      ['put_letter', id, failedAt, reason, eventName, tenant, letter, failure, MAX_FAILURES, body],
    ]);
  });

  it('is read with its failures, its body, and until when it is claimed', async () => {
    const { letters, asked } = opened(await (async (found) => () => [found])(await row(5_000, 2)));
    const found = await letters.get('id');
    expect(found).toMatchObject({ claimedUntil: new Date(5_000), key: LETTER.key, tenant: 'acme' });
    expect(found!.history).toHaveLength(2);
    expect(Buffer.from(found!.rawBody)).toEqual(Buffer.from(LETTER.rawBody));
    expect(asked).toEqual([['get_letter', 'id']]);
    expect(await opened(() => []).letters.get('id')).toBeUndefined();
  });

  it.each<[string, (by: ReturnType<typeof opened>['letters']) => Promise<unknown>, unknown[]]>([
    ['remove', (by) => by.remove('id'), ['remove_letter', 'id']],
    ['extend', (by) => by.extend('id', 't', 7), ['extend_letter', 'id', 't', 7]],
    ['settle', (by) => by.settle('id', 't'), ['settle_letter', 'id', 't']],
    ['giveBack', (by) => by.giveBack('id', 't'), ['release_letter', 'id', 't']],
    [
      'giveBack with a failure',
      (by) =>
        by.giveBack('id', 't', { at: new Date(9), source: 'redrive', attempt: 4, error: 'no' }),
      ['fail_letter', 'id', 't', 9, expect.stringContaining('"no"'), MAX_FAILURES],
    ],
  ])('%s is one call, which says whether it did something', async (_name, call, called) => {
    const [one, other] = [opened(() => [[1]]), opened(() => [[0]])];
    expect(await call(one.letters)).toBe(true);
    expect(await call(other.letters)).toBe(false);
    expect(one.asked).toEqual([called]);
  });

  it('is claimed for a time, under an id that fits into a key', async () => {
    const found = await row(5_000);
    const { letters, asked } = opened(() => [found]);
    expect(await letters.claim('x'.repeat(300), { token: 't', leaseMs: 7 })).toMatchObject({
      claimedUntil: new Date(5_000),
    });
    expect(asked).toEqual([['claim_letter', expect.stringMatching(/^sha256:/), 't', 7]]);
  });
});

describe('a list of dead letters', () => {
  it('is of what is asked for, with one more than the limit, and goes on after its last letter', async () => {
    const found = [await row(null), await row(null)];
    const { letters, asked } = opened(() => found);
    const since = new Date(1);
    const query = { since, until: new Date(2), eventName: 'e', reason: 'handler-failed', limit: 1 };
    const { letters: page, cursor } = await letters.list({ ...query, tenant: 'acme' } as never);
    expect(page).toHaveLength(1);
    expect(page[0]!.claimedUntil).toBeUndefined();
    await letters.list({ cursor });
    const id = await deadLetterId(LETTER);
    const [first, second] = asked;
    expect(first).toEqual(['list_letters', 1, 2, 'e', 'handler-failed', 'acme', -1, '', 2]);
    expect(second!.slice(3)).toEqual([null, null, null, LETTER.failedAt.getTime(), id, 101]);
  });

  it('is counted', async () => {
    const { letters, asked } = opened(() => [[3]]);
    expect(await letters.count({ reason: 'invalid-payload' })).toBe(3);
    expect(asked[0]!.slice(3)).toEqual([null, 'invalid-payload', null]);
  });
});

describe('expired letters', () => {
  const turn = { before: new Date(5), limit: 2, token: 't', leaseMs: 7 };

  it.each([
    [0, 0],
    [2, 2],
    [null, undefined], // it is the turn of another process
  ])('are removed in the turn of the process: %p', async (answer, removed) => {
    const { letters, asked } = opened(() => [[answer]]);
    expect(await letters.removeExpired!(turn)).toBe(removed);
    expect(asked).toEqual([['remove_expired', 5, 2, 't', 7]]);
  });

  it.each([[[]], [[['two']]]])(
    'are not counted by an answer that has no number: %j',
    async (rows) => {
      await expect(opened(() => rows).letters.removeExpired!(turn)).rejects.toThrow(
        'MySQL returned an unexpected answer.',
      );
    },
  );
});

it('the health of dead letters is asked for under another name each time', async () => {
  const { letters, asked } = opened(() => []);
  await letters.ping!();
  await letters.ping!();
  const named = ['probe_letters', expect.stringMatching(/^health [\da-f-]{36}$/)];
  expect(asked).toEqual([named, named]);
  expect(asked[0]).not.toEqual(asked[1]);
});
