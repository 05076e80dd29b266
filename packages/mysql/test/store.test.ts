import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import type { Claim, OutcomeBatch } from '@call-webhooks/core/stores';
import { mysqlStore, type MysqlStoreOptions } from '../src/index.ts';
import { recordingPool, serverError, type Reply } from './recording-pool.ts';

afterEach(() => void jest.restoreAllMocks());

const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const HASH = /^sha256:[\da-f]{64}$/;
/** Too long to be kept as it is. */
const LONG = 'x'.repeat(300);
const isSweep = (name: string) => name.startsWith('sweep_');

/** A store whose sweeps remove nothing, so that only other calls are interesting. */
function opened(reply: Reply = () => [[0]], options: MysqlStoreOptions = {}, version = 1) {
  const { prefix } = options;
  const recorded = recordingPool((name, values) => (isSweep(name) ? [[0]] : reply(name, values)), {
    version,
    ...(prefix !== undefined && { prefix }),
  });
  const logger = collectingLogger();
  const store = mysqlStore(recorded.pool, { now: () => NOW, logger, ...options });
  const asked = () => recorded.calls.filter(([name]) => !isSweep(name));
  return { store, asked, ...recorded, logger };
}

const claim = (more: Partial<Claim> = {}): Claim => ({
  ...{ webhookId: 'webhook-1', replayUntil: NOW + 600_000, key: 'event-1' },
  ...{ leaseMs: 60_000, token: 'token-1', ...more },
});
const admitting =
  (status: unknown, attempt: unknown = 3) =>
  () => [[status, attempt]];

describe('a claim', () => {
  it('is one call with its values, and has its attempt', async () => {
    const { store, asked } = opened(admitting('admitted'), { rememberFor: 600_000, prefix: 'my_' });
    expect(await store.admit(claim())).toEqual({ status: 'admitted', attempt: 3 });
    expect(asked()).toEqual([
      ['admit', 'webhook-1', 'token-1', 600_000, 'event-1', 60_000, 600_000, null],
    ]);
  });

  it.each(['duplicate', 'replayed', 'in-progress', 'dead-lettered', 'group-busy'])(
    'that is not admitted has a status alone: %s',
    async (status) => {
      expect(await opened(admitting(status)).store.admit(claim())).toStrictEqual({ status });
    },
  );

  it.each([
    ['another status', [['yes', 1]]],
    ['no status', [[null, 1]]],
    ['no attempt', [['admitted', null]]],
    ['no row', []],
  ])('is not admitted by an answer with %s', async (_what, rows) => {
    await expect(opened(() => rows).store.admit(claim())).rejects.toThrow(
      'MySQL returned an unexpected answer.',
    );
  });

  it.each([
    [NOW + 5, 5],
    [NOW, 1],
    [NOW - 5, 1],
  ])('keeps its webhook id for a millisecond at least: until %d', async (replayUntil, kept) => {
    const { store, asked } = opened(admitting('admitted'));
    await store.admit(claim({ replayUntil }));
    expect(asked()[0]!.slice(3)).toEqual([kept, 'event-1', 60_000, DAY_MS, null]);
  });

  it('is on the clock of the process by default', async () => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW + 7);
    const { store, asked } = opened(admitting('admitted'), { now: undefined });
    await store.admit(claim());
    expect(asked()[0]![3]).toBe(600_000 - 7);
  });

  it('has no event without a key, and texts that fit into a key', async () => {
    const { store, asked } = opened(admitting('admitted'));
    await store.admit(claim({ key: undefined, webhookId: LONG }));
    await store.admit(claim({ key: LONG, group: 'call-1' }));
    await store.admit(claim({ group: LONG }));
    const hash = expect.stringMatching(HASH);
    expect(asked().map(([, id, , , key, , , group]) => [id, key, group])).toEqual([
      [hash, null, null],
      ['webhook-1', hash, 'call-1'],
      ['webhook-1', 'event-1', hash],
    ]);
  });

  it('is not sent once half of its time is over; what ends leases has no such limit', async () => {
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    const { pool, calls } = recordingPool(() => [['admitted', 1]]);
    const slow = {
      ...pool,
      async getConnection() {
        now += 51;
        return pool.getConnection();
      },
    };
    const store = mysqlStore(slow, { logger: collectingLogger() });
    await expect(store.admit(claim({ within: 100 }))).rejects.toThrow('MySQL is busy');
    expect(calls).toEqual([]);
    for (const within of [104, undefined]) await store.admit(claim({ within }));
    await store.complete('event-1', 'token-1').catch(() => undefined);
    expect(calls.map(([name]) => name).filter((name) => !isSweep(name))).toEqual([
      ...['admit', 'admit', 'end_lease'],
    ]);
  });
});

describe('each call is one procedure, with these values', () => {
  const yes = () => opened(() => [[1]]);
  it.each<[string, (store: ReturnType<typeof yes>['store']) => Promise<unknown>, unknown[]]>([
    ['complete', (store) => store.complete('k', 't'), ['end_lease', 'k', 't', 'done']],
    [
      'complete, as a dead letter',
      (store) => store.complete('k', 't', 'dead-lettered'),
      ['end_lease', 'k', 't', 'dead-lettered'],
    ],
    ['release', (store) => store.release('k', 't'), ['end_lease', 'k', 't', 'released']],
    ['extend', (store) => store.extend('k', 't', 5), ['extend', 'k', 't', 5]],
    ['reopen', (store) => store.reopen!('k'), ['reopen', 'k']],
  ])('%s', async (_name, call, asked) => {
    const [held, lost] = [yes(), opened(() => [[0]])];
    expect(await call(held.store)).toBe(true);
    expect(await call(lost.store)).toBe(false);
    expect(held.asked()).toEqual([asked]);
  });

  it('forget, for each key, and their number', async () => {
    const { store, asked } = opened((_name, [key]) => [[key === 'b' ? 0 : 1]]);
    expect(await store.forget!(['a', 'b', LONG])).toBe(2);
    const hash = expect.stringMatching(HASH);
    expect(asked()).toEqual([
      ['forget', 'a'],
      ['forget', 'b'],
      ['forget', hash],
    ]);
  });

  it('peek, for all keys, in their order', async () => {
    const hex = (key: string) => Buffer.from(key).toString('hex');
    const { store, asked } = opened(() => [
      [Buffer.from('b'), 'handled'],
      [Buffer.from('é'), 'failed'],
    ]);
    expect(await store.peek!(['é', 'a', 'b', 'é'])).toEqual([
      ...['failed', undefined, 'handled', 'failed'],
    ]);
    expect(asked()).toEqual([['peek', JSON.stringify(['é', 'a', 'b', 'é'].map(hex))]]);
  });

  it('cursors', async () => {
    const { store, asked } = opened((name) => (name === 'load_cursor' ? [['page-2']] : []));
    expect(await store.loadCursor!('name')).toBe('page-2');
    await store.saveCursor!('name', 'page-3');
    await store.saveCursor!('name', undefined);
    expect(asked()).toEqual([
      ['load_cursor', 'name'],
      ['save_cursor', 'name', 'page-3'],
      ['save_cursor', 'name', null],
    ]);
    expect(await opened(() => []).store.loadCursor!('name')).toBeUndefined();
  });

  it('ping, each time under another name, since several machines ask at once', async () => {
    const { store, asked } = opened(() => []);
    await store.ping();
    await store.ping();
    const named = ['probe', expect.stringMatching(/^health [\da-f-]{36}$/)];
    expect(asked()).toEqual([named, named]);
    expect(asked()[0]).not.toEqual(asked()[1]);
  });
});

describe('a call that the server refused', () => {
  /** Fails so many times with this error. */
  const failing = (error: Error, times: number, version = 1) => {
    let failures = 0;
    return opened(
      () => {
        if (failures++ < times) throw error;
        return [['duplicate', 0]];
      },
      {},
      version,
    );
  };

  it.each([
    [1, 'is made again'],
    [4, 'is made again'],
    [5, 'fails'],
  ])('because of a deadlock, %d times in a row, %s', async (times, outcome) => {
    const deadlock = serverError(1213, { sqlState: '40001' });
    const { store, asked } = failing(deadlock, times);
    const admitted = store.admit(claim());
    if (outcome === 'fails') await expect(admitted).rejects.toBe(deadlock);
    else expect(await admitted).toEqual({ status: 'duplicate' });
    expect(asked()).toHaveLength(Math.min(times + 1, 5));
    expect(new Set(asked().map((call) => JSON.stringify(call))).size).toBe(1);
  });

  it.each<[number, number, string]>([
    [1146, 0, 'The tables of the store are missing. Run `await store.migrate()` once.'],
    [1305, 0, 'The tables of the store are missing. Run `await store.migrate()` once.'],
    [1305, 1, 'A procedure of the store is missing, as after a dump without --routines.'],
    [1644, 2, 'have version 2, which a newer release of @call-webhooks/mysql has created'],
    [1318, 2, 'have version 2, which a newer release of @call-webhooks/mysql has created'],
    [1318, 1, 'error 1318'],
    [1205, 2, 'error 1205'],
    [1062, 2, 'error 1062'],
  ])('with %d, on tables of version %d, says: %s', async (errno, version, says) => {
    const { store, asked } = failing(serverError(errno), 1, version);
    await expect(store.admit(claim())).rejects.toThrow(says);
    expect(asked()).toHaveLength(1);
  });
});

describe('a batch of the outcome log', () => {
  const batch: OutcomeBatch = {
    ...{ id: 'b1', rows: [], failures: [], marks: { é: 7 } },
    process: { id: 'p1', host: 'h', pid: 1, startedAt: 1, at: 2, inFlight: 0 },
    counts: { minutes: { 5: { é: 3 } } },
  };

  it('is one call, with names that no character set changes', async () => {
    const { store, asked } = opened(() => []);
    expect(await store.log!.append(batch)).toBeUndefined();
    const none = ['', 0, 0, 0];
    expect(asked()).toEqual([
      [
        ...['append_log', 'b1', 'p1', JSON.stringify(batch.process), 2, ...none, ...none],
        ...['[["minutes",5,"c3a9",3]]', '[["c3a9",7]]'],
      ],
    ]);
  });

  it.each<[string, object, boolean]>([
    ['is out of range', { sqlState: '22003' }, true],
    ['is against a constraint', { sqlState: '23000' }, true],
    ['is against a check of MySQL', { errno: 3819 }, true],
    ['waits for a lock', { errno: 1205 }, false],
    ['has no table that may be written', { errno: 1142, sqlState: '42000' }, false],
    ['meets no server', { errno: -111, sqlState: undefined }, false],
  ])('that %s is refused for ever, or fails: %j', async (_what, more, isRefused) => {
    const error = serverError(1, more);
    const { store } = opened(() => {
      throw error;
    });
    const appended = store.log!.append(batch);
    if (isRefused) expect(await appended).toEqual({ refused: error });
    else await expect(appended).rejects.toBe(error);
  });

  it('is erased from once more if somebody else has changed it, and then the next ones are', async () => {
    const row = (callId: string) =>
      JSON.stringify([
        { at: 1, process: 'p', outcome: 'handled', source: 'webhook', durationMs: 1, callId },
      ]);
    const kept = [
      [1, 0, 0, row('mine')],
      [1, 1, 0, row('other')],
      [2, 0, 0, row('mine')],
    ];
    let tries = 0;
    const { store, asked } = opened((name, values) => {
      if (name === 'log_kept') return kept.filter(([n]) => Number(n) > Number(values[0]));
      return [[tries++ === 1 ? 0 : 1]]; // the second batch has been changed meanwhile
    });
    expect(await store.log!.erase({ callIds: ['mine'] })).toBe(3);
    expect(asked().map(([name, first]) => [name, first])).toEqual([
      ...[['log_kept', 0], ['log_erase', 1], ['log_erase', 2]], // prettier-ignore
      ...[['log_kept', 0], ['log_erase', 1], ['log_erase', 2]], // prettier-ignore
      ['log_kept', 2],
    ]);
  });
});

describe('old rows', () => {
  const tables = ['sweep_webhook_ids', 'sweep_events', 'sweep_event_groups'];

  it('are removed up to a thousand of each table', async () => {
    const { pool, calls } = recordingPool((name) => [[name.length]]);
    const sum = tables.reduce((total, name) => total + name.length, 0);
    expect(await mysqlStore(pool).sweep()).toBe(sum);
    expect(calls).toEqual(tables.map((name) => [name, 1_000]));
  });

  it('are removed after the first claim that MySQL answered, and after every hundredth; close() waits for that', async () => {
    const swept = deferred();
    let isDown = true;
    const { pool, calls } = recordingPool(async (name) => {
      if (isDown) throw serverError(1040);
      if (isSweep(name)) await swept.promise;
      return isSweep(name) ? [[0]] : [['duplicate', 0]];
    });
    const store = mysqlStore(pool);
    const sweeps = () => calls.filter(([name]) => name === tables[2]).length;
    await expect(store.admit(claim())).rejects.toThrow('error 1040');
    isDown = false;
    await store.admit(claim());
    let isClosed = false;
    const closed = store.close().then(() => (isClosed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    swept.resolve();
    await closed;
    expect(sweeps()).toBe(1);
    for (let claims = 2; claims <= 101; claims++) {
      await store.admit(claim());
      await store.close();
      expect([claims, sweeps()]).toEqual([claims, claims <= 100 ? 1 : 2]);
    }
  });

  it.each([true, false])('that stay are a warning, of the logger: %p', async (hasLogger) => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const logger = collectingLogger();
    const { pool } = recordingPool((name) => {
      if (isSweep(name)) throw serverError(1142);
      return [['duplicate', 0]];
    });
    const store = mysqlStore(pool, hasLogger ? { logger } : {});
    for (let claims = 0; claims < 101; claims++) {
      await store.admit(claim());
      await store.close();
    }
    const lines = hasLogger ? logger.entries.map(({ message }) => message) : warn.mock.calls.flat();
    const says = 'deleting old rows of the MySQL store failed: ';
    expect(lines).toContainEqual(expect.stringContaining(says));
    expect(warn).toHaveBeenCalledTimes(hasLogger ? 0 : 1);
  });
});
