import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import { postgresStore } from '../src/index.ts';
import { recordingClient } from './recording-client.ts';

type Calls = ReturnType<typeof recordingClient>['calls'];
interface Row {
  id: string;
  key: string;
  how: string;
}

const claim = (number: number, more: Partial<Claim> = {}): Claim => ({
  ...{ webhookId: `id-${String(number)}`, key: `key-${String(number)}` },
  ...{ replayUntil: Date.now() + 600_000, leaseMs: 60_000, token: `token-${String(number)}` },
  ...more,
});
const claims = (count: number) => Array.from({ length: count }, (_, index) => claim(index));
const attempt = (number: number) => ({ status: 'admitted', attempt: number });
const isBatch = (values: unknown[]) => String(values[0]).startsWith('[');
const rowsOf = (values: unknown[]) => JSON.parse(String(values[0])) as Row[];

/** Each claim is admitted, with an attempt that tells it from others. Each end finds its lease. */
function admitting(text: string, values: unknown[]): unknown {
  if (text.includes('old_ids')) return 0; // old rows
  if (!isBatch(values)) return text.includes("'status'") ? attempt(99) : true;
  const rows = rowsOf(values);
  if (rows[0]!.how) return Object.fromEntries(rows.map(({ key }) => [key, true]));
  return Object.fromEntries(rows.map(({ id }) => [id, attempt(1 + Number(id.slice(3)))]).reverse());
}

function opened(reply = admitting) {
  const { client, calls } = recordingClient(reply);
  const store = postgresStore(client);
  return {
    store,
    calls,
    admitAll: (all: Claim[]) => Promise.all(all.map((one) => store.admit(one))),
  };
}

/** How many calls each statement had, without those that remove old rows. */
const sizes = (calls: Calls) =>
  calls
    .filter(({ text }) => !text.includes('old_ids'))
    .map(({ values }) => (isBatch(values) ? rowsOf(values).length : 1));

describe('the claims of one turn', () => {
  it('are one statement, and each gets its own answer', async () => {
    const { calls, admitAll } = opened();
    expect(await admitAll(claims(5))).toEqual([1, 2, 3, 4, 5].map(attempt));
    expect(sizes(calls)).toEqual([5]);
  });

  it('are made alone, side by side, as long as they are few', async () => {
    const { calls, admitAll } = opened();
    expect(await admitAll(claims(4))).toEqual(Array(4).fill(attempt(99)));
    expect(sizes(calls)).toEqual([1, 1, 1, 1]);
  });

  it('are no more than 64 in one statement', async () => {
    const { calls, admitAll } = opened();
    await admitAll(claims(65));
    expect(sizes(calls)).toEqual([64, 1]);
  });

  it.each<[string, Partial<Claim>]>([
    ['webhook id', { webhookId: 'id-1' }],
    ['event', { key: 'key-1' }],
  ])('are apart if they write the same row: of a %s', async (_what, more) => {
    const { calls, admitAll } = opened();
    await admitAll([claim(1), claim(2, more), claim(3), claim(4, more), claim(5)]);
    expect(sizes(calls)).toEqual([3, 1, 1]);
  });

  it('are together though the webhook id of one is the key of the other', async () => {
    const more = [3, 4, 5].map((number) => claim(number));
    const { calls, admitAll } = opened();
    await admitAll([claim(1, { key: 'id-2' }), claim(2, { key: 'id-1' }), ...more]);
    expect(sizes(calls)).toEqual([5]);
  });

  it('of groups are alone, each with its group', async () => {
    const { calls, admitAll } = opened();
    await admitAll([1, 2, 3, 4, 5].map((n) => claim(n, n === 2 ? { group: 'call' } : {})));
    expect(sizes(calls)).toEqual([4, 1]);
    expect(calls[1]!.values).toContain('call');
  });

  it.each([1, 5])('are never admitted without an answer of their own: %d', async (count) => {
    for (const odd of [null, {}, [], true, { 'id-0': attempt(1) }, { status: 'yes' }]) {
      const { store } = opened(() => odd);
      const ends = await Promise.allSettled(claims(count).map((one) => store.admit(one)));
      expect(ends.at(-1)).toMatchObject({ status: 'rejected' });
    }
  });
});

describe('the ends of one turn', () => {
  it('are one statement, and each is told whether its lease was held', async () => {
    const { store, calls } = opened((_text, values) =>
      isBatch(values) ? { a: true, c: true, d: true } : 0,
    );
    const ends = [
      ...[store.complete('a', 'of a'), store.complete('b', 'of b', 'dead-lettered')],
      ...[store.release('c', 'of c'), store.complete('d', 'of d'), store.complete('e', 'of e')],
    ];
    expect(await Promise.all(ends)).toEqual([true, false, true, true, false]);
    expect(calls.map(({ values }) => rowsOf(values))).toEqual([
      [
        { key: 'a', token: 'of a', how: 'done' },
        { key: 'b', token: 'of b', how: 'dead-lettered' },
        { key: 'c', token: 'of c', how: 'released' },
        { key: 'd', token: 'of d', how: 'done' },
        { key: 'e', token: 'of e', how: 'done' },
      ],
    ]);
  });

  it('are apart if they are of the same event', async () => {
    const { store, calls } = opened();
    await Promise.all([store.complete('a', 'first'), store.complete('a', 'second')]);
    expect(sizes(calls)).toEqual([1, 1]);
  });

  it('are not held where the answer is none', async () => {
    for (const odd of [null, 'a', 1]) {
      const { store } = opened(() => odd);
      const ends = [store.complete('a', 't'), store.release('b', 't')];
      for (const end of await Promise.allSettled(ends)) expect(end.status).toBe('rejected');
    }
  });
});

describe('a batch that failed', () => {
  /** Admits five claims, of which a batch fails. */
  async function withFailing(error: unknown) {
    const { calls, admitAll } = opened((text, values) => {
      if (isBatch(values)) throw error;
      return admitting(text, values);
    });
    const end = await admitAll(claims(5)).catch((thrown: unknown) => ({ thrown }));
    return { end, sizes: sizes(calls) };
  }
  const wrapped = (error: unknown, times: number): unknown =>
    times === 0 ? error : wrapped(new Error('Failed query', { cause: error }), times - 1);
  const self = new Error('down');
  self.cause = self;

  it.each<[string, unknown]>([
    ['the data of one row', { code: '22P05' }],
    ['a lock that was not free in time', { code: '55P03' }],
    ['an error of Prisma, with the code in its meta', { code: 'P2010', meta: { code: '55P03' } }],
    [
      'an error of an adapter of Prisma',
      { code: 'P2010', meta: { driverAdapterError: { cause: { originalCode: '40P01' } } } },
    ],
    ['an error in five others', wrapped({ code: '55P03' }, 5)],
  ])('has its calls made alone after %s', async (_what, error) => {
    expect(await withFailing(error)).toEqual({
      end: Array(5).fill(attempt(99)),
      sizes: [5, 1, 1, 1, 1, 1],
    });
  });

  it.each<[string, unknown]>([
    ['a connection that failed', { code: '08006' }],
    ['a disk that is full', { code: '53100' }],
    ['a server that stops', { code: '57P01' }],
    ['a network that fails', { code: 'ECONNRESET' }],
    ['an error without a code', new Error('timeout 55P03')],
    ['nothing', undefined],
    ['a code that does not begin with a digit', { code: 'P0001' }],
    ['a server that stops, though its cause is a row', { code: '57P01', cause: { code: '23505' } }],
    ['an error that is its own cause', self],
  ])('fails with its error after %s, and is not made again', async (_what, thrown) => {
    expect(await withFailing(thrown)).toEqual({ end: { thrown }, sizes: [5] });
  });
});

describe('while Postgres is slow', () => {
  /** A store whose claims are answered by hand. */
  function slow(more: object = {}, isFunction = false) {
    const answers: (() => void)[] = [];
    const { client, calls } = recordingClient(async (text, values) => {
      if (!text.includes("'status'")) return admitting(text, values);
      const answered = deferred();
      answers.push(() => answered.resolve());
      await answered.promise;
      return admitting(text, values);
    });
    const asked = () => calls.filter(({ text }) => text.includes("'status'"));
    const like = isFunction ? () => undefined : {};
    return { store: postgresStore(Object.assign(like, client, more)), asked, answers };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let now = 0;
  const past = (ms: number) => void (now += ms);
  beforeEach(() => void jest.spyOn(performance, 'now').mockImplementation(() => now));
  afterEach(() => void jest.restoreAllMocks());
  /** Five statements that are under way, as many as a store sends on ten connections. */
  async function busy(within: number) {
    const opened = slow();
    const first: Promise<unknown>[] = [];
    for (let number = 0; number < 5; number++) {
      first.push(opened.store.admit(claim(number, { within })));
      while (opened.asked().length <= number) await turn();
    }
    return { ...opened, first };
  }

  // The other connections are for those who end and extend leases, and for the user.
  it.each([
    [1, 1],
    [2, 1],
    [3, 2],
    [4, 2],
    [9, 5],
    [10, 5],
    ['an unknown number of', 5],
  ])('claims use half of a pool of %s connections, rounded up: %d', async (max, expected) => {
    const { store, asked, answers } = slow(typeof max === 'number' ? { options: { max } } : {});
    // Each is of a group: it shares no statement.
    const ends = Array.from({ length: 12 }, (_, at) =>
      store.admit(claim(at, { group: `group-${String(at)}`, within: 60_000 })),
    );
    for (let done = 0; done < ends.length; done++) {
      for (let turns = 0; turns < 20; turns++) await turn();
      expect(asked()).toHaveLength(Math.min(ends.length, done + expected));
      answers[done]!();
      await ends[done];
    }
  });

  it('claims over HTTP, where connections have no number, wait for no other', async () => {
    const { store, asked, answers } = slow({}, true);
    const ends = Array.from({ length: 70 }, (_, at) =>
      store.admit(claim(at, { group: `group-${String(at)}`, within: 60_000 })),
    );
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(asked()).toHaveLength(70);
    for (const answered of answers) answered();
    await Promise.all(ends);
  });

  it('claims wait for those before them, and then go together', async () => {
    const { store, asked, answers } = await busy(60_000);
    const waiting = [10, 11, 12].map((number) => store.admit(claim(number, { within: 60_000 })));
    await turn();
    await turn();
    expect(asked()).toHaveLength(5);
    answers[0]!();
    while (asked().length < 6) await turn();
    expect(rowsOf(asked()[5]!.values).map(({ id }) => id)).toEqual(['id-10', 'id-11', 'id-12']);
    answers[5]!();
    expect(await Promise.all(waiting)).toEqual([attempt(11), attempt(12), attempt(13)]);
    for (const end of answers) end();
  });

  it('a claim that came too late for its caller is never sent, and those after it are', async () => {
    const { store, asked, answers } = await busy(60_000);
    const late = [10, 11].map((number) => store.admit(claim(number, { within: 20 })));
    const refused = Promise.allSettled(late);
    await turn(); // they wait now
    await turn();
    past(15);
    const inTime = store.admit(claim(12, { within: 60_000 }));
    expect(await refused).toMatchObject([10, 11].map(() => ({ status: 'rejected' })));
    answers[0]!();
    while (asked().length < 6) await turn();
    expect(JSON.stringify(asked()[5]!.values)).toContain('id-12');
    answers[5]!();
    expect(await inTime).toEqual(attempt(99));
    expect(JSON.stringify(asked())).not.toMatch(/id-1[01]/);
    for (const end of answers) end();
  });

  it('fewer claims share a statement when it took too long, and more again when it did not', async () => {
    const { store, asked, answers } = await busy(60_000);
    const admitMany = (from: number, within: number, length = 40) =>
      Array.from({ length }, (_, index) => store.admit(claim(from + index, { within })));
    const ends = admitMany(100, 10_000);
    answers[0]!();
    while (asked().length < 6) await turn();
    expect(rowsOf(asked()[5]!.values)).toHaveLength(40);
    answers[5]!();
    await Promise.all(ends);

    const slowOnes = Promise.allSettled(admitMany(200, 10));
    while (asked().length < 7) await turn();
    past(10);
    answers[6]!();
    await slowOnes;
    // One more after each statement that was quick.
    const next = admitMany(300, 60_000, 63);
    const sizes: number[] = [];
    for (let sent = 7; sent < 10; sent++) {
      while (asked().length <= sent) await turn();
      sizes.push(rowsOf(asked()[sent]!.values).length);
      answers[sent]!();
    }
    await Promise.all(next);
    expect(sizes).toEqual([20, 21, 22]);
    for (const end of answers) end();
  });

  it('what ends leases is not behind claims', async () => {
    const { store, answers } = await busy(60_000);
    const waiting = store.admit(claim(10, { within: 60_000 }));
    expect(await store.complete('key-0', 'token-0')).toBe(true);
    answers[0]!();
    while (answers.length < 6) await turn();
    answers[5]!();
    await waiting;
    for (const end of answers) end();
  });
});
