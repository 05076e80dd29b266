import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { Store } from '@call-webhooks/core';
import {
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
  waitFor,
} from '@call-webhooks/contract-tests';
import { mysqlStore } from '@call-webhooks/mysql';
import { postgresStore } from '@call-webhooks/postgres';
import { redisStore } from '@call-webhooks/redis';
import { startSimulator } from '@call-webhooks/simulator';
import { closing, setup } from './support/dead-letters.ts';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { program } from './support/program.ts';
import { run } from './support/run.ts';
import { SECRET } from './support/receiver.ts';

/** Runs the program to its end, as cron does. */
async function status(store: string) {
  const child = program(['status'], { CALL_WEBHOOKS_STORE: store });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}

test('in cron: 0 while all is well, 1 before the rule is paused, 3 if nobody can tell', async () => {
  let isBroken = false;
  const handle = () => {
    if (isBroken) throw new Error('The CRM is down');
  };
  const made = await setup({
    on: { 'call:started': handle, 'call:completed': handle },
    deadLetter: undefined,
  });
  const simulator = await startSimulator({ clock: 'manual', seed: 1, patience: 10_000 });
  closing.push(() => simulator.close());
  const secret = SECRET;
  for (const trigger of ['call:started', 'call:completed'] as const)
    simulator.rules.create({ trigger, scope: 'workspace', actions: [{ url: made.url, secret }] });
  const place = async (time: string) => {
    simulator.calls.place({ durationSeconds: 20, recorded: false });
    await simulator.clock.advance(time);
    await simulator.events.settled();
  };
  const logged = (count: number) =>
    waitFor(async () => ((await made.store.log?.read())?.rows.length ?? 0) >= count);

  await place('1m');
  await logged(2);
  const store = `sqlite:${made.file}`;
  const calm = await status(store);
  expect(calm).toMatchObject({ code: 0, stderr: '' });
  expect(calm.stdout).toContain('All 2 events are arriving.');

  isBroken = true;
  await place('12m'); // two retries of both events
  await logged(8);
  const failing = await status(store);
  expect(failing.code).toBe(1);
  expect(failing.stdout).toContain('2 things need attention: ');
  expect(failing.stdout).toMatch(/^failing {2}call:started, call:completed {2}urgent {2}since /m);
  expect(failing.stdout).toContain('and then pauses the rule');
  expect(simulator.rules.list().map(({ state }) => state)).toEqual(['active', 'active']);

  isBroken = false;
  await simulator.clock.runUntilIdle();
  await logged(10);
  expect((await status(store)).code).toBe(0);

  const unknown = await status('sqlite:/nowhere/calls.db');
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
}, 240_000);

/** A store without a receiver's trace, then one that a receiver has written to, seen under other names. */
async function traces(url: string, store: Store, others: readonly (readonly string[])[]) {
  const at = Date.now();
  await store.log?.append({
    ...{ id: 'batch', rows: [], failures: [], counts: {}, marks: {} },
    process: { id: 'p', host: 'h', pid: 1, startedAt: at, at, inFlight: 0 },
  });
  const started = await run(['status', '--store', url, '--prefix', 'calls']);
  expect(started).toMatchObject({ code: 0, stderr: '' });
  expect(started.stdout).toBe('No verified delivery has arrived in the last 30 days.\n');
  for (const other of others)
    for (const flags of [[], ['--urgent'], ['--json']]) {
      const { code, stdout, stderr } = await run(['status', ...other, ...flags]);
      expect([other, flags, code, stdout]).toEqual([
        ...[other, flags, 3, expect.not.stringContaining('No verified delivery')],
      ]);
      expect(stderr).toMatch(/Check the database[^]*--prefix/);
    }
  const nobody = await run(['status', '--store', url, '--prefix', 'calls', '--tenant', 'nobody']);
  expect(nobody).toMatchObject({ code: 3, stderr: expect.stringContaining('tenant nobody') });
}

describeWithProgram('redis-server', 'the status of Redis', () => {
  test('is unknown without a trace of a receiver, and calm once one has started', async () => {
    const server = await redisServer();
    await server.start();
    const redis = new Redis(server.port, '127.0.0.1');
    const url = `redis://127.0.0.1:${String(server.port)}`;
    try {
      const logger = { warn: () => undefined, error: () => undefined };
      await traces(url, redisStore(redis, { prefix: 'calls', logger }), [
        ['--store', `${url}/3`, '--prefix', 'calls'],
        ['--store', url, '--prefix', 'typo'],
      ]);
      const { records } = await run(['status', '--store', url, '--prefix', 'typo', '--json']);
      expect(records()).toEqual([
        expect.objectContaining({
          unknown: expect.stringMatching(/^Redis has no key that starts with typo: at all\./),
          line: expect.stringMatching(/^Unknown: Redis has no key/),
        }),
      ]);
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'the status of Postgres',
  () => {
    test('is unknown without the tables of a receiver, whose schema the fix names', async () => {
      const server = await startPostgres();
      const pool = new pg.Pool({ connectionString: server.url });
      pool.on('error', () => undefined); // the server may stop first
      const store = postgresStore(pool, { schema: 'calls' });
      try {
        await store.migrate();
        await pool.query('CREATE DATABASE other');
        const other = new URL(server.url);
        other.pathname = '/other';
        await traces(server.url, store, [
          ['--store', server.url, '--prefix', 'typo'],
          ['--store', server.url],
          ['--store', other.href, '--prefix', 'calls'],
        ]);
        const { stderr } = await run(['status', '--store', server.url, '--prefix', 'typo']);
        expect(stderr).toContain('--prefix, which is the schema for Postgres.');
        expect(stderr).not.toContain("Check the store's server");
      } finally {
        await store.close();
        await pool.end();
        await server.remove();
      }
    });
  },
);

describeWithProgram(
  { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' },
  'the status of MariaDB',
  () => {
    test('is unknown without the tables of a receiver', async () => {
      const server = await startMysql();
      const pool = createPool({ uri: server.url });
      const store = mysqlStore(pool, { prefix: 'calls' });
      try {
        await store.migrate();
        await traces(server.url, store, [['--store', server.url, '--prefix', 'typo']]);
      } finally {
        await store.close();
        await pool.end();
        await server.remove();
      }
    });
  },
);
