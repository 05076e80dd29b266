import { join } from 'node:path';
import type { DeadLetter, DeadLetters, Store } from '@call-webhooks/core';
import { startRetention } from '@call-webhooks/core/stores';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import { Redis } from 'ioredis';
import Libsql from 'libsql';
import pg from 'pg';
import type { Answers } from './contender-process.ts';
import { costOf, runAll, throughReceiver } from './load.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';
import { processesBesideServers, type StoreName } from './servers.ts';

const LETTERS = 100_000;
const AT_A_TIME = 64;
const TURN = 4_000;
const REMOVING = ', removing';
const HOUR_MS = 3_600_000;
const STORES = ['redis', 'postgres', 'sqlite'] as const satisfies readonly StoreName[];
type Durable = (typeof STORES)[number];

/** Deliveries of receivers whose store has 100,000 expired dead letters, with and without their removal. */
export async function measure(options: BenchOptions): Promise<Result> {
  const [letters, turn] = options.quick ? [200, 50] : [LETTERS, TURN];
  const beside = processesBesideServers(import.meta.url);
  const start =
    (store: StoreName, how: string): Start =>
    async () => {
      const { process, stop } = await beside(store, [store, how, String(letters)]);
      return { turn: () => process.ask('turn', turn), stop };
    };
  const contenders = Object.fromEntries(
    STORES.flatMap((store) => ['', REMOVING].map((how) => [store + how, start(store, how)])),
  );
  const compare = STORES.map((store) => [store + REMOVING, store] as const);
  const question = { contenders, compare, isOurs: () => false, warmUps: 1 };
  const rounds = await runRounds(question, options);
  return { title: 'a delivery while expired dead letters are removed', rounds, compare };
}

interface Opened {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  readonly close: () => unknown;
}

const quiet = { warn: () => undefined, error: () => undefined };

const OPEN: Record<Durable, (place: string) => Promise<Opened>> = {
  redis(place) {
    const client = new Redis(Number(place), '127.0.0.1');
    client.on('error', () => undefined); // the server may stop first
    const options = { logger: quiet, keepFor: HOUR_MS };
    return Promise.resolve({
      ...{ store: redisStore(client), deadLetters: redisDeadLetters(client, options) },
      close: () => client.disconnect(),
    });
  },
  async postgres(place) {
    const pool = new pg.Pool({ host: '127.0.0.1', port: Number(place), user: 'postgres', max: 16 });
    pool.on('error', () => undefined); // the server may stop first
    const store = postgresStore(pool);
    await store.migrate();
    return {
      ...{ store, deadLetters: postgresDeadLetters(pool, { keepFor: HOUR_MS }) },
      async close() {
        await store.close();
        await pool.end();
      },
    };
  },
  sqlite(place) {
    const db = new Libsql(join(place, 'store.db'));
    return Promise.resolve({
      ...{ store: sqliteStore(db), deadLetters: sqliteDeadLetters(db, { keepFor: HOUR_MS }) },
      close: () => db.close(),
    });
  },
};

/** A store with so many expired dead letters, which are removed during each turn, if they are. */
export async function serve(
  place: string,
  name: Durable,
  how: string,
  letters: string,
): Promise<Answers> {
  const { store, deadLetters, close } = await OPEN[name](place);
  const deliveries = await throughReceiver('', store);
  const puts = Array.from(
    { length: Number(letters) },
    (_, at) => () => deadLetters.put(letter(at)),
  );
  await runAll(puts, AT_A_TIME);
  return {
    async turn(number: number) {
      const before = await deadLetters.count();
      const removal =
        how === REMOVING
          ? startRetention({ 'dead letters': deadLetters }, { logger: quiet, lookEvery: 1 })
          : undefined;
      const cost = await costOf(deliveries, number, AT_A_TIME);
      await removal?.close();
      const left = await deadLetters.count();
      if (removal && before === LETTERS && left === before)
        throw new Error('Nothing was removed meanwhile.');
      return cost;
    },
    stop: close,
  };
}

/** It failed long ago, and has 1 KB. */
function letter(at: number): DeadLetter {
  const callId = `call-${String(at)}`;
  return {
    ...{ reason: 'handler-failed', source: 'webhook', attempt: 3, eventName: 'call:completed' },
    ...{ callId, key: `${callId}:call:completed`, webhookId: `webhook-${String(at)}` },
    rawBody: Buffer.from(JSON.stringify({ callId, note: 'x'.repeat(1_000) })),
    timestamp: new Date(1e12),
    failedAt: new Date(1e12 + at),
    ...{ error: undefined, errorText: 'Error: the CRM is down' },
  };
}
