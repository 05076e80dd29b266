import { describe, expect, it, jest } from '@jest/globals';
import { completeIn, literal, refuseOwnClient } from '../src/transaction.ts';

const COMPLETION = { update: 'UPDATE events SET done = true', where: 'key = 1 OR key = 2' };
const DOCS =
  'See https://call-webhooks.github.io/call-webhooks/exactly-once.html#your-own-database';
const refusal = (mistake: string) => `completeIn: ${mistake}. ${DOCS}`;

/** A transaction whose statements give these statuses, one after another. */
function transaction(...replies: string[]) {
  const left = [...replies];
  const query = jest.fn((_text: string) => Promise.resolve({ rows: [{ status: left.shift() }] }));
  return { query, texts: () => query.mock.calls.map(([text]) => text) };
}

describe('completing an event in a transaction', () => {
  it.each([
    ['done', true],
    ['lost', false],
  ])('takes one statement where the transaction has written before: %s', async (status, done) => {
    const tx = transaction(status);
    expect(await completeIn(tx, COMPLETION)).toBe(done);
    expect(tx.texts()).toEqual([
      `WITH completed AS (UPDATE events SET done = true WHERE (key = 1 OR key = 2) AND txid_current_if_assigned() IS NOT NULL RETURNING 1)
SELECT CASE
    WHEN EXISTS (SELECT FROM completed) THEN 'done'
    WHEN txid_current_if_assigned() IS NOT NULL THEN 'lost'
    ELSE 'no id' END AS status`,
    ]);
  });

  it.each([
    ['done', true],
    ['lost', false],
  ])('is tried again once the transaction has an id: %s', async (status, done) => {
    const tx = transaction('no id', '42', status);
    expect(await completeIn(tx, COMPLETION)).toBe(done);
    const [first, second, third] = tx.texts();
    expect(second).toBe('SELECT txid_current()::text AS id');
    expect(third).toBe(first);
    expect(tx.query).toHaveBeenCalledTimes(3);
  });

  it('is refused where each statement is a transaction by itself', async () => {
    const tx = transaction('no id', '42', 'no id', 'done');
    const rejected = await completeIn(tx, COMPLETION).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      code: 'invalid-options',
      message: refusal('this connection is in no transaction. Run BEGIN on it first'),
    });
    expect(rejected).not.toHaveProperty('cause');
    expect(tx.query).toHaveBeenCalledTimes(3);
  });

  it.each<[string, unknown]>([
    ['an object with rows', { rows: [{ Status: 'done' }] }],
    ['the rows', [{ s: 'done' }]],
    ['a row as a list', { rows: [['done']] }],
  ])('takes the one value that a client gives, under any name: %s', async (_what, reply) => {
    expect(await completeIn({ query: () => Promise.resolve(reply) }, COMPLETION)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['no rows', []],
    ['an object without rows', { status: 'done' }],
    ['two rows', [{ status: 'done' }, { status: 'done' }]],
    ['a text as long as one row', { rows: 'd' }],
  ])('fails if the client gives %s', async (_what, reply) => {
    const completing = completeIn({ query: () => Promise.resolve(reply) }, COMPLETION);
    await expect(completing).rejects.toEqual(
      new Error('completeIn: the client of the transaction gave no rows.'),
    );
  });

  it('rejects with the error of the client', async () => {
    const error = Object.assign(new Error('serialization failure'), { code: '40001' });
    const completing = completeIn({ query: () => Promise.reject(error) }, COMPLETION);
    await expect(completing).rejects.toBe(error);
  });

  it('says that the tables are in another database, with the error of the client', async () => {
    const cause = Object.assign(new Error('relation missing'), { code: '42P01' });
    const completing = completeIn({ query: () => Promise.reject(cause) }, COMPLETION);
    await expect(completing).rejects.toMatchObject({
      code: 'invalid-options',
      message: refusal(
        'this connection is to another database than that of the store or queue, whose tables are not in it. Pass a transaction on their database',
      ),
      cause,
    });
  });

  it.each([undefined, null, 'BEGIN', {}])('refuses %p', async (tx) => {
    await expect(completeIn(tx, COMPLETION)).rejects.toMatchObject({
      code: 'invalid-options',
      message: refusal('expected a transaction of a Postgres client'),
    });
  });
});

describe('the client of the store itself', () => {
  it('is refused, with what to do', () => {
    expect(() => refuseOwnClient({ query: () => undefined })).toThrow(
      refusal(
        'this is the connection of the store itself, whose other calls would be in the transaction. Give the store a pool',
      ),
    );
  });

  it('is refused as a pool if it is one', () => {
    expect(() => refuseOwnClient({ query: () => undefined, totalCount: 0 })).toThrow(
      'completeIn: a pool runs each statement on any of its connections.',
    );
  });
});

describe('a text in a statement', () => {
  it.each([
    ['', ''],
    ['a', '61'],
    ["'; DROP TABLE events; --", '273b2044524f50205441424c45206576656e74733b202d2d'],
    ['\n\\', '0a5c'],
    ['é😀', 'c3a9f09f9880'],
  ])('is the hexadecimal form of its UTF-8: %j', (text, hex) => {
    expect(literal(text)).toBe(`convert_from(decode('${hex}', 'hex'), 'UTF8')`);
  });
});
