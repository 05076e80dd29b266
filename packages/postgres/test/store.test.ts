import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { Claim } from '@call-webhooks/core/stores';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { migrationSql, postgresStore, type PostgresStoreOptions } from '../src/index.ts';
import { statements } from '../src/statements.ts';
import { recordingClient } from './recording-client.ts';

afterEach(() => void jest.restoreAllMocks());

const SQL = statements('call_webhooks');
const NOW = 1_700_000_000_000;
const DAY_MS = 86_400_000;
const HASH = /^sha256:[\da-f]{64}$/;
/** Too long to be kept as it is. */
const LONG = 'x'.repeat(300);

type Reply = Parameters<typeof recordingClient>[0];

/** A store whose sweeps remove nothing, so that only other statements are interesting. */
function opened(reply: Reply = () => [], options: PostgresStoreOptions = {}) {
  const { client, calls } = recordingClient((text, values) =>
    text === SQL.sweep ? [{ removed: 0 }] : reply(text, values),
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
const admitting = (status: string) => () => [{ status, attempt: 3 }];

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
    expect(asked()[0]![1]).toEqual([...['webhook-1', 'token-1', kept, 'event-1', 60_000, DAY_MS]]);
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
    ['complete', (store, key) => store.complete(key, 't'), SQL.complete, ['t']],
    [
      'dead-letter',
      (store, key) => store.complete(key, 't', 'dead-lettered'),
      SQL.deadLetter,
      ['t'],
    ],
    ['release', (store, key) => store.release(key, 't'), SQL.release, ['t']],
    ['extend', (store, key) => store.extend(key, 't', 5), SQL.extend, ['t', 5]],
    ['reopen', (store, key) => store.reopen!(key), SQL.reopen, []],
  ])('%s', async (_name, call, text, values) => {
    const { store, asked } = opened(() => [{ held: 1 }]);
    expect(await call(store, 'event-1')).toBe(true);
    await call(store, LONG);
    expect(asked()).toEqual([
      [text, ['event-1', ...values]],
      [text, [expect.stringMatching(HASH), ...values]],
    ]);
    expect(await call(opened().store, 'event-1')).toBe(false);
  });

  it('cursors', async () => {
    const { store, asked } = opened(() => [{ cursor: 'page-2' }]);
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
    expect(await opened().store.loadCursor!('recovery')).toBeUndefined();
  });

  it('cursors need the tables, too', async () => {
    const { store } = opened(() => {
      throw Object.assign(new Error('no such relation'), { code: '42P01' });
    });
    for (const call of [
      () => store.loadCursor!('recovery'),
      () => store.saveCursor!('recovery', 'page-2'),
      () => store.saveCursor!('recovery', undefined),
    ])
      await expect(call()).rejects.toThrow('Run `await store.migrate()` once.');
  });

  it('migrate, ping and completeIn', async () => {
    const { store, asked, client } = opened(() => [{ status: 'done' }], { schema: 'mine' });
    expect(asked()).toEqual([]);
    await store.migrate();
    await store.ping();
    expect(asked()).toEqual([
      [migrationSql({ schema: 'mine' }), undefined],
      ['SELECT 1', undefined],
    ]);
    const tx = recordingClient(() => [{ status: 'lost' }]);
    expect(await store.completeIn(tx.client, LONG, 'token')).toBe(false);
    expect(tx.calls[0]!.text).toContain('UPDATE mine.events SET done = true');
    await expect(store.completeIn(client, 'event-1', 'token')).rejects.toThrow(
      'completeIn: this is the connection of the store itself',
    );
    expect(asked()).toHaveLength(2);
  });
});
