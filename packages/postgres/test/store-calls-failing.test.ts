import { describe, expect, it, jest } from '@jest/globals';
import { statements } from '../src/statements.ts';
import { StoreCalls, type StorableClaim } from '../src/store-calls.ts';
import { recordingClient } from './recording-client.ts';

const SQL = statements('mine');
const ADMITTED = { status: 'admitted', attempt: 1 };

const claim = (id: string): StorableClaim => ({
  ...{ id, token: 'token', keepIdMs: 5, key: null, leaseMs: 7 },
});

/** Makes two claims and two commits. A batch fails with an error, a call alone does not. */
async function withFailing(error: unknown) {
  const { client, calls } = recordingClient((text) => {
    if (text === SQL.admitBatch || text === SQL.completeBatch) throw error;
    return text === SQL.admit ? [ADMITTED] : [{ held: 1 }];
  });
  const store = new StoreCalls(client, SQL, 1_000);
  const ended = await Promise.all(
    [
      ...[store.admit(claim('a')), store.admit(claim('b'))],
      ...[store.complete('c', 'token', false), store.complete('d', 'token', true)],
    ].map((call: Promise<unknown>) => call.catch((thrown: unknown) => ({ thrown }))),
  );
  const nameOf = (asked: string) => Object.entries(SQL).find(([, text]) => text === asked)?.[0];
  return { ended, statements: calls.map(({ text }) => nameOf(text)).sort() };
}

/** An error in so many others. */
const wrapped = (error: unknown, times: number): unknown =>
  times === 0 ? error : wrapped(new Error('Failed query', { cause: error }), times - 1);
const self = new Error('down');
self.cause = self;

describe('the calls of a batch that failed', () => {
  it.each<[string, unknown]>([
    ['the data of one row', { code: '22P05' }],
    ['a lock that was not free in time', { code: '55P03' }],
    ['a deadlock', { code: '40P01' }],
    ['a code that only ends like one of the server', { code: '23P53' }],
    ['an error of Prisma, with the code in its meta', { code: 'P2010', meta: { code: '55P03' } }],
    ['an error in five others', wrapped({ code: '55P03' }, 5)],
  ])('are made alone after %s', async (_what, error) => {
    const made = await withFailing(error);
    expect(made.ended).toEqual([ADMITTED, ADMITTED, true, true]);
    expect(made.statements).toEqual([
      ...['admit', 'admit', 'admitBatch', 'complete', 'completeBatch', 'deadLetter'],
    ]);
  });

  it.each<[string, unknown]>([
    ['a connection that failed', { code: '08006' }],
    ['a disk that is full', { code: '53100' }],
    ['a server that stops', { code: '57P01' }],
    ['a network that fails', { code: 'ECONNRESET' }],
    ['an error without a code', new Error('timeout')],
    ['nothing', undefined],
    ['a code that is longer', { code: '55P031' }],
    ['a code that is longer in front', { code: 'x55P03' }],
    ['a code that is shorter', { code: '55P0' }],
    ['a code in small letters', { code: '55p03' }],
    ['a code that does not begin with a digit', { code: 'P0001' }],
    ['a server that stops, as Prisma says it', { code: 'P2010', meta: { code: '57P01' } }],
    ['a server that stops, though its cause is a row', { code: '57P01', cause: { code: '23505' } }],
    ['an error in six others', wrapped({ code: '55P03' }, 6)],
    ['an error that is its own cause', self],
  ])('fail with its error after %s, and are not made again', async (_what, thrown) => {
    const made = await withFailing(thrown);
    expect(made.ended).toEqual([1, 2, 3, 4].map(() => ({ thrown })));
    expect(made.statements).toEqual(['admitBatch', 'completeBatch']);
  });

  it('each have their own end when they are made alone', async () => {
    const error = Object.assign(new Error('invalid byte'), { code: '22021' });
    const { client } = recordingClient((text, values) => {
      if (text === SQL.admitBatch || values?.[0] === 'bad') throw error;
      return [ADMITTED];
    });
    const store = new StoreCalls(client, SQL, 1_000);
    const [good, bad] = [store.admit(claim('good')), store.admit(claim('bad'))];
    await expect(bad).rejects.toBe(error);
    expect(await good).toEqual(ADMITTED);
  });

  it('that are apart have their own end, too', async () => {
    const error = new Error('down');
    const { client } = recordingClient((_text, values) => {
      if (values?.[1] === 'bad') throw error;
      return [ADMITTED];
    });
    const store = new StoreCalls(client, SQL, 1_000);
    const [good, bad] = [store.admit(claim('a')), store.admit({ ...claim('a'), token: 'bad' })];
    await expect(bad).rejects.toBe(error);
    expect(await good).toEqual(ADMITTED);
  });
});

describe('on a Pool of pg', () => {
  it('a call alone has a prepared statement, and a batch has none: its plan depends on the tables', async () => {
    const query = jest.fn((statement: unknown) =>
      Promise.resolve({
        rows:
          statement === SQL.admitBatch
            ? ['a', 'b'].map((id) => ({ ...ADMITTED, id }))
            : [{ ...ADMITTED, held: 1 }],
      }),
    );
    const store = new StoreCalls({ query, totalCount: 0 } as never, SQL, 1_000);
    await Promise.all([store.admit(claim('a')), store.admit(claim('b'))]);
    await Promise.all([store.complete('a', 't', false), store.complete('b', 't', false)]);
    await store.admit(claim('a'));
    await store.admitInGroup(claim('a'), 'group');
    await store.complete('a', 'token', false);
    await store.change(SQL.release, 'a', 'token');
    const named = (text: string) =>
      expect.objectContaining({ text, name: expect.stringContaining('call-webhooks ') });
    expect(query.mock.calls.map(([statement]) => statement)).toEqual([
      ...[SQL.admitBatch, SQL.completeBatch],
      ...[SQL.admit, SQL.admitInGroup, SQL.complete, SQL.release].map(named),
    ]);
  });
});
