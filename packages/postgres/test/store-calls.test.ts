import { describe, expect, it, jest } from '@jest/globals';
import { statements } from '../src/statements.ts';
import { type StorableClaim, StoreCalls } from '../src/store-calls.ts';
import { recordingClient } from './recording-client.ts';

describe('the calls of a store', () => {
  const SQL = statements('mine');
  const REMEMBER_FOR = 1_000;
  const ADMITTED = { status: 'admitted', attempt: 1 } as const;
  const NO_ROW = new Error('Postgres gave no row for a claim.');
  const NO_ROWS = new Error(
    'The Postgres client gave no rows. Pass a Pool of pg, or another client like it.',
  );

  const claim = (number: number, more: Partial<StorableClaim> = {}): StorableClaim => ({
    ...{ id: `id-${String(number)}`, token: `token-${String(number)}`, keepIdMs: 5 },
    ...{ key: `key-${String(number)}`, leaseMs: 7, ...more },
  });
  const valuesOf = ({ id, token, keepIdMs, key, leaseMs }: StorableClaim) => [
    ...[id, token, keepIdMs, key, leaseMs, REMEMBER_FOR],
  ];

  /** Answers each claim of a batch in another order, and each commit. */
  function answer(text: string, values: unknown[] | undefined): unknown[] {
    if (text === SQL.admit || text === SQL.admitInGroup) return [ADMITTED];
    const calls = JSON.parse(String(values?.[0])) as { id: string; key: string }[];
    if (text === SQL.completeBatch) return calls.map(({ key }) => ({ held: key }));
    return calls
      .reverse()
      .map(({ id }) => ({ id, status: 'admitted', attempt: Number(id.slice(3)) }));
  }

  function opened(reply: Parameters<typeof recordingClient>[0] = answer) {
    const { client, calls } = recordingClient(reply);
    return { store: new StoreCalls(client, SQL, REMEMBER_FOR), calls };
  }

  const attempt = (number: number) => ({ ...ADMITTED, attempt: number });

  describe('the claims of one turn', () => {
    it('are one statement, and each gets its own answer', async () => {
      const { store, calls } = opened();
      const claims = [claim(1), claim(2, { key: null }), claim(3, { key: null })];
      const rows = await Promise.all(claims.map((one) => store.admit(one)));
      expect(rows).toMatchObject([attempt(1), attempt(2), attempt(3)]);
      expect(calls).toEqual([
        { text: SQL.admitBatch, values: [JSON.stringify(claims), REMEMBER_FOR] },
      ]);
    });

    it('are the statement of one claim if it is the only one', async () => {
      const { store, calls } = opened();
      expect(await store.admit(claim(1))).toEqual(ADMITTED);
      expect(await store.admit(claim(2, { key: null }))).toEqual(ADMITTED);
      expect(calls).toStrictEqual([
        { text: SQL.admit, values: valuesOf(claim(1)) },
        { text: SQL.admit, values: valuesOf(claim(2, { key: null })) },
      ]);
    });

    it('are no more than 64 in one statement, which then waits no longer', async () => {
      const { store, calls } = opened();
      const claims = Array.from({ length: 65 }, (_, index) => claim(index));
      const rows = Promise.all(claims.map((one) => store.admit(one)));
      expect(calls).toHaveLength(1);
      expect(await rows).toMatchObject([...[...claims.keys()].slice(0, 64).map(attempt), ADMITTED]);
      expect(JSON.parse(String(calls[0]!.values![0]))).toHaveLength(64);
      expect(calls[1]).toEqual({ text: SQL.admit, values: valuesOf(claim(64)) });
    });

    it.each<[string, Partial<StorableClaim>]>([
      ['webhook id', { id: 'id-1' }],
      ['event', { key: 'key-1' }],
    ])('are apart if they write the same row: of a %s', async (_what, more) => {
      const { store, calls } = opened();
      const claims = [claim(1), claim(2, more), claim(3), claim(4, more)];
      await Promise.all(claims.map((one) => store.admit(one)));
      expect(calls).toEqual([
        {
          text: SQL.admitBatch,
          values: [JSON.stringify([claims[0], claims[2]]), REMEMBER_FOR],
        },
        { text: SQL.admit, values: valuesOf(claims[1]!) },
        { text: SQL.admit, values: valuesOf(claims[3]!) },
      ]);
    });

    it('are together though the webhook id of one is the key of the other', async () => {
      const { store, calls } = opened();
      const claims = [claim(1, { key: 'id-2' }), claim(2, { key: 'id-1' })];
      await Promise.all(claims.map((one) => store.admit(one)));
      expect(calls.map(({ text }) => text)).toEqual([SQL.admitBatch]);
    });

    it('of a row that a claim apart would write are not kept apart by it', async () => {
      const { store, calls } = opened();
      // The second one waits for the first, and never writes key-2 in this batch.
      const claims = [claim(1), claim(2, { id: 'id-1' }), claim(3, { key: 'key-2' })];
      await Promise.all(claims.map((one) => store.admit(one)));
      expect(calls.map(({ text }) => text)).toEqual([SQL.admitBatch, SQL.admit]);
    });

    it.each([1, 2])('never pass for admitted without a row: %d of them', async (count) => {
      const { store } = opened(() => []);
      const claims = Array.from({ length: count }, (_, index) => store.admit(claim(index)));
      const ends = await Promise.allSettled(claims);
      expect(ends).toEqual(claims.map(() => ({ status: 'rejected', reason: NO_ROW })));
    });

    it('of groups are alone, each with its group', async () => {
      const { store, calls } = opened();
      expect(await store.admitInGroup(claim(1), 'call-1')).toEqual(ADMITTED);
      expect(calls).toEqual([
        { text: SQL.admitInGroup, values: [...valuesOf(claim(1)), 'call-1'] },
      ]);
    });
  });

  describe('the commits of one turn', () => {
    it('are one statement, and each is told whether its lease was held', async () => {
      const { store, calls } = opened(() => [{ held: 'c' }, { held: 'a' }]);
      const commits = ['a', 'b', 'c'].map((key) => store.complete(key, `of ${key}`, key === 'c'));
      expect(await Promise.all(commits)).toEqual([true, false, true]);
      const json = JSON.stringify([
        { key: 'a', token: 'of a', deadLettered: false },
        { key: 'b', token: 'of b', deadLettered: false },
        { key: 'c', token: 'of c', deadLettered: true },
      ]);
      expect(calls).toEqual([{ text: SQL.completeBatch, values: [json] }]);
    });

    it.each([
      [false, SQL.complete],
      [true, SQL.deadLetter],
    ])('are the statement of one if it is the only one (dead-lettered: %p)', async (dead, text) => {
      const { store, calls } = opened(() => [{ held: 1 }]);
      expect(await store.complete('a', 'token', dead)).toBe(true);
      expect(calls).toEqual([{ text, values: ['a', 'token'] }]);
    });

    it('are apart if they are of the same event', async () => {
      const { store, calls } = opened((text) => (text === SQL.complete ? [{ held: 1 }] : []));
      const commits = ['first', 'second'].map((token) => store.complete('a', token, false));
      expect(await Promise.all(commits)).toEqual([true, true]);
      expect(calls.map(({ values }) => values)).toEqual([
        ['a', 'first'],
        ['a', 'second'],
      ]);
    });
  });

  describe('a change under a lease', () => {
    it('tells whether there was a row, and asks with all values', async () => {
      const replies = [[{ held: 1 }], []];
      const { store, calls } = opened(() => replies.shift());
      expect(await store.change('UPDATE', 'key', 'token', 5)).toBe(true);
      expect(await store.change('UPDATE', 'key')).toBe(false);
      expect(calls).toEqual([
        { text: 'UPDATE', values: ['key', 'token', 5] },
        { text: 'UPDATE', values: ['key'] },
      ]);
    });

    it.each(['admit', 'complete'] as const)(
      'believes no row of another shape, as %s does not',
      async (method) => {
        const { store } = opened(() => [{ other: 1 }]);
        const asked: Promise<unknown>[] = [1, 2].map((number) =>
          method === 'admit'
            ? store.admit(claim(number))
            : store.complete(`key-${String(number)}`, 'token', false),
        );
        asked.push(store.admitInGroup(claim(3), 'group'), store.change('UPDATE', 'key'));
        const ends = await Promise.allSettled<unknown>(asked);
        expect(ends).toEqual(ends.map(() => ({ status: 'rejected', reason: NO_ROWS })));
      },
    );
  });
});

describe('calls that fail', () => {
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
      [
        'a server that stops, though its cause is a row',
        { code: '57P01', cause: { code: '23505' } },
      ],
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
});
