import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import type { Claim } from '@call-webhooks/core/stores';
import { postgresDeadLetters, postgresStore, type PostgresStoreOptions } from '../src/index.ts';
import { statements } from '../src/statements.ts';
import { recordingClient } from './recording-client.ts';

describe('a store', () => {
  afterEach(() => void jest.restoreAllMocks());

  const SQL = statements('call_webhooks');
  const NOW = 1_700_000_000_000;
  const DAY_MS = 86_400_000;
  const HASH = /^sha256:[\da-f]{64}$/;
  /** Too long to be kept as it is. */
  const LONG = 'x'.repeat(300);

  type Reply = Parameters<typeof recordingClient>[0];

  /** A store whose sweeps remove nothing, so that only other statements are interesting. */
  function opened(reply: Reply = () => false, options: PostgresStoreOptions = {}) {
    const { client, calls } = recordingClient((text, values) =>
      text === SQL.sweep ? 0 : reply(text, values),
    );
    const logger = collectingLogger();
    const store = postgresStore(client, { now: () => NOW, logger, ...options });
    const asked = () =>
      calls.filter(({ text }) => text !== SQL.sweep).map(({ text, values }) => [text, values]);
    return { store, asked, calls, client, logger };
  }

  const claim = (more: Partial<Claim> = {}): Claim => ({
    ...{ webhookId: 'webhook-1', replayUntil: NOW + 600_000, key: 'event-1' },
    ...{ leaseMs: 60_000, token: 'token-1', ...more },
  });
  const admitting = (status: string) => () => ({ status, attempt: 3 });

  describe('a claim', () => {
    it('is asked for with its values, and has its attempt', async () => {
      const { store, asked } = opened(admitting('admitted'), { rememberFor: 600_000 });
      expect(await store.admit(claim())).toEqual({ status: 'admitted', attempt: 3 });
      expect(asked()).toEqual([
        [SQL.admit, ['webhook-1', 'token-1', 600_000, 'event-1', 60_000, 600_000]],
      ]);
    });

    it.each(['duplicate', 'replayed', 'in-progress', 'dead-lettered', 'group-busy'])(
      'that is not admitted has a status alone: %s',
      async (status) => {
        expect(await opened(admitting(status)).store.admit(claim())).toStrictEqual({ status });
      },
    );

    it.each([
      [NOW + 5, 5],
      [NOW + 1, 1],
      [NOW, 1],
      [NOW - 5, 1],
    ])('keeps its webhook id for a millisecond at least: until %d', async (replayUntil, kept) => {
      const { store, asked } = opened(admitting('admitted'));
      await store.admit(claim({ replayUntil }));
      expect(asked()[0]![1]).toEqual([
        ...['webhook-1', 'token-1', kept, 'event-1', 60_000, DAY_MS],
      ]);
    });

    it('is on the clock of the process by default', async () => {
      jest.spyOn(Date, 'now').mockReturnValue(NOW + 7);
      const { store, asked } = opened(admitting('admitted'), { now: undefined });
      await store.admit(claim());
      expect(asked()[0]![1]).toEqual(expect.arrayContaining([600_000 - 7]));
    });

    it('has no event without a key, and texts that Postgres can keep', async () => {
      const { store, asked } = opened(admitting('admitted'));
      await store.admit(claim({ key: undefined, webhookId: LONG }));
      await store.admit(claim({ key: LONG, group: 'call-1' }));
      await store.admit(claim({ group: LONG }));
      const hash = expect.stringMatching(HASH);
      expect(asked()).toEqual([
        [SQL.admit, [hash, 'token-1', 600_000, null, 60_000, DAY_MS]],
        [SQL.admitInGroup, ['webhook-1', 'token-1', 600_000, hash, 60_000, DAY_MS, 'call-1']],
        [SQL.admitInGroup, ['webhook-1', 'token-1', 600_000, 'event-1', 60_000, DAY_MS, hash]],
      ]);
    });
  });

  describe('each call is one statement, with these values', () => {
    it.each<
      [string, (store: ReturnType<typeof postgresStore>, key: string) => unknown, string, unknown[]]
    >([
      ['complete', (store, key) => store.complete(key, 't'), SQL.end, ['t', 'done']],
      [
        'dead-letter',
        (store, key) => store.complete(key, 't', 'dead-lettered'),
        SQL.end,
        ['t', 'dead-lettered'],
      ],
      ['release', (store, key) => store.release(key, 't'), SQL.end, ['t', 'released']],
      ['extend', (store, key) => store.extend(key, 't', 5), SQL.extend, ['t', 5]],
      ['reopen', (store, key) => store.reopen!(key), SQL.reopen, []],
    ])('%s', async (_name, call, text, values) => {
      const { store, asked } = opened(() => true);
      expect(await call(store, 'event-1')).toBe(true);
      await call(store, LONG);
      expect(asked()).toEqual([
        [text, ['event-1', ...values]],
        [text, [expect.stringMatching(HASH), ...values]],
      ]);
      expect(await call(opened().store, 'event-1')).toBe(false);
    });

    it('cursors', async () => {
      const reply = (text: string) => (text === SQL.loadCursor ? { cursor: 'page-2' } : true);
      const { store, asked } = opened(reply);
      expect(await store.loadCursor!('recovery')).toBe('page-2');
      await store.saveCursor!('recovery', '');
      await store.saveCursor!(LONG, undefined);
      await store.loadCursor!(LONG);
      const hash = expect.stringMatching(HASH);
      expect(asked()).toEqual([
        [SQL.loadCursor, ['recovery']],
        [SQL.saveCursor, ['recovery', '']],
        [SQL.removeCursor, [hash]],
        [SQL.loadCursor, [hash]],
      ]);
      expect(await opened(() => ({ cursor: null })).store.loadCursor!('a')).toBeUndefined();
    });

    it('ping', async () => {
      const { store, asked } = opened();
      await store.ping();
      const [[text]] = asked() as [[string, unknown[]]];
      for (const table of ['webhook_ids', 'events', 'groups'])
        for (const write of ['INSERT INTO', 'UPDATE', 'DELETE FROM'])
          expect(text).toContain(`${write} call_webhooks.${table} `);
    });

    it('completeIn', async () => {
      const { store, asked, client } = opened(undefined, { schema: 'mine' });
      const tx = recordingClient(undefined, () => [{ status: 'lost' }]);
      expect(await store.completeIn(tx.client, LONG, 'token')).toBe(false);
      expect(tx.calls[0]!.text).toContain('UPDATE mine.events SET done = true');
      await expect(store.completeIn(client, 'event-1', 'token')).rejects.toThrow(
        'completeIn: this is the connection of the store itself',
      );
      expect(asked()).toEqual([]);
    });
  });
});

const { client } = recordingClient();
const rememberFor = 'rememberFor: expected whole milliseconds from 600000 to 315360000000';
const schema = 'schema: expected up to 63 lower-case letters, digits and _';

describe('a store in Postgres', () => {
  it.each([
    [undefined, 86_400_000],
    [600_000, 600_000],
    [315_360_000_000, 315_360_000_000],
  ])('remembers events for a day, or as long as it is told: %p', (given, known) => {
    expect(postgresStore(client, { rememberFor: given }).rememberFor).toBe(known);
  });

  it.each<[object, string]>([
    [{ rememberFor: 599_999 }, rememberFor],
    [{ schema: 'a"b' }, schema],
    [{ now: 5 }, 'now: expected a function'],
    [{ logger: {} }, 'logger: expected an object with warn, error'],
    [{ logger: { warn: () => 1 } }, 'logger: expected an object with warn, error'],
    [{ logger: { error: () => 1 } }, 'logger: expected an object with warn, error'],
    [{ client }, 'there is no option "client"'],
  ])('says which option is wrong, and what it expects (%#)', (options, mistake) => {
    expect(() => postgresStore(client, options)).toThrow(
      `Invalid options of postgresStore: ${mistake}.`,
    );
  });

  it('needs no more of a logger than two methods', () => {
    const logger = { warn: () => 1, error: () => 1 };
    expect(() => postgresStore(client, { logger })).not.toThrow();
  });

  it('says which client is none', () => {
    expect(() => postgresStore({} as never)).toThrow(
      'Invalid client of postgresStore: expected one with query(text, values)',
    );
  });
});

describe('dead letters in Postgres', () => {
  it('say which option and which client is wrong', () => {
    expect(() => postgresDeadLetters(client, { schema: 'a"b' })).toThrow(
      `Invalid options of postgresDeadLetters: ${schema}.`,
    );
    expect(() => postgresDeadLetters({} as never)).toThrow(
      'Invalid client of postgresDeadLetters: expected one with query(text, values)',
    );
  });
});

describe('old rows', () => {
  afterEach(() => void jest.restoreAllMocks());

  const SQL = statements('call_webhooks');
  const claim = () => ({
    ...{ webhookId: 'webhook-1', replayUntil: Date.now() + 600_000, key: 'event-1' },
    ...{ leaseMs: 60_000, token: 'token-1' },
  });

  it('are removed up to a thousand of each table', async () => {
    const { client, calls } = recordingClient(() => 7);
    expect(await postgresStore(client).sweep()).toBe(7);
    expect(calls).toEqual([{ text: SQL.sweep, values: [1_000] }]);
  });

  it('are removed after the first claim, and then after every hundredth, one sweep at a time', async () => {
    let sweeps = 0;
    const swept = deferred();
    const { client } = recordingClient((text, values) => {
      if (text === SQL.admit) return { status: 'duplicate' };
      if (text !== SQL.sweep) {
        const ids = (JSON.parse(String(values[0])) as { id: string }[]).map(({ id }) => id);
        return Object.fromEntries(ids.map((id) => [id, { status: 'duplicate' }]));
      }
      sweeps += 1;
      return sweeps === 1 ? swept.promise.then(() => 0) : 0;
    });
    const store = postgresStore(client);
    const admit = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, number) =>
          store.admit({ ...claim(), webhookId: `w-${String(number)}`, key: `e-${String(number)}` }),
        ),
      );
    await admit(1);
    await admit(100);
    expect(sweeps).toBe(1); // it runs yet
    swept.resolve();
    await store.close();
    await admit(99);
    expect(sweeps).toBe(1);
    await admit(1);
    await store.close();
    expect(sweeps).toBe(2);
  });

  it('are removed after a claim that Postgres answered, and close() waits for that', async () => {
    const swept = deferred<unknown[]>();
    let isDown = true;
    const { client, calls } = recordingClient((text) => {
      if (isDown) throw new Error('down');
      return text === SQL.sweep ? 0 : { status: 'duplicate' };
    });
    const query: typeof client.query = async (text, values) => {
      const reply = await client.query(text, values);
      if (text === SQL.sweep) await swept.promise;
      return reply;
    };
    const store = postgresStore({ query });
    await expect(store.admit(claim())).rejects.toThrow('down');
    expect(calls.map(({ text }) => text)).toEqual([SQL.admit]);
    isDown = false;
    await store.admit(claim());
    expect(calls.map(({ text }) => text)).toEqual([SQL.admit, SQL.admit, SQL.sweep]);
    let isClosed = false;
    const closed = store.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    swept.resolve([]);
    await closed;
  });

  it.each([true, false])('that stay are a warning, of the logger: %p', async (hasLogger) => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const logger = collectingLogger();
    const { client } = recordingClient((text) => {
      if (text === SQL.sweep) throw new Error('permission denied');
      return { status: 'duplicate' };
    });
    const store = postgresStore(client, hasLogger ? { logger } : {});
    for (let claims = 0; claims < 101; claims++) {
      await store.admit(claim());
      await store.close();
    }
    const lines = hasLogger ? logger.entries.map(({ message }) => message) : warn.mock.calls.flat();
    expect(lines).toEqual([expect.stringContaining('permission denied')]);
    expect(warn).toHaveBeenCalledTimes(hasLogger ? 0 : 1);
  });
});
