import { afterEach, expect, test } from '@jest/globals';
import {
  deadLetter,
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
  tcpProxy,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createReceiver, sign } from '@call-webhooks/core';
import { mysqlStore } from '@call-webhooks/mysql';
import { postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { logger } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function redis(options?: Parameters<typeof redisServer>[0]) {
  const server = await redisServer(options);
  await server.start();
  closing.push(() => server.stop());
  const client = new Redis(server.port, '127.0.0.1');
  closing.push(() => {
    client.disconnect();
  });
  // As a store of a receiver, which keeps what it was given.
  await client.config('SET', 'appendonly', 'yes');
  return { port: server.port, client, url: `redis://127.0.0.1:${String(server.port)}` };
}

/** What `doctor` says of a store: results and texts. */
async function store(url: string, ...flags: string[]) {
  const { code, records } = await run(['doctor', '--json', '--store', url, ...flags]);
  const found = records() as { check: string; result: string; text: string; fix?: string }[];
  return { code, found: found.filter(({ check }) => check === 'store') };
}

/** A text that has this part. */
const having = (part: string): string => expect.stringContaining(part) as unknown as string;

describeWithProgram('redis-server', 'doctor on Redis', () => {
  test('a server that keeps everything, and has keys of a receiver, is right', async () => {
    const { client, url } = await redis();
    const right = {
      ...{ check: 'store', result: 'ok' },
      text: expect.stringMatching(/^Redis \d+\.\d+\.\d+ responds\.$/),
    };
    await client.set('call-webhooks:x', '1');
    await client.config('SET', 'maxmemory', '0');
    expect(await store(url)).toEqual({ code: expect.any(Number), found: [right] });
    // Dead letters alone are a sign of a receiver, too, and another prefix is of none.
    await client.del('call-webhooks:x');
    const text =
      'Redis has no key that starts with call-webhooks: at all. Check the database number and --prefix. If you use the keyPrefix option of ioredis, pass both prefixes, such as --prefix myapp:call-webhooks.';
    const fix = 'Check --store and --prefix.';
    expect((await store(url)).found).toEqual([{ check: 'store', result: 'bad', text, fix }]);
    await redisDeadLetters(client, { logger }).put(deadLetter());
    expect((await store(url)).found).toEqual([right]);
    expect((await store(url, '--prefix', 'mine')).found).toEqual([
      {
        ...{ check: 'store', result: 'bad', fix },
        text: text.replace('with call-webhooks:', 'with mine:'),
      },
    ]);
  });

  test('a server that is slow is a warning, which says how slow and what the limit is', async () => {
    const { client, url, port } = await redis();
    await client.set('call-webhooks:x', '1');
    const proxy = await tcpProxy(port);
    closing.push(() => proxy.close());
    const speed = async (given: string) => {
      const { records } = await run(['doctor', '--json', '--store', given]);
      return records().filter(({ check }) => check === 'store speed');
    };
    expect(await speed(url)).toEqual([
      { check: 'store speed', result: 'ok', text: having('A lookup takes') },
    ]);
    proxy.delay(300);
    expect(await speed(`redis://127.0.0.1:${String(proxy.port)}`)).toEqual([
      {
        ...{ check: 'store speed', result: 'warn', fix: having('distance') },
        text: expect.stringMatching(/^A lookup takes [3-9]\d\d ms, which is more than 100 ms\./),
      },
    ]);

    // A server that is fast by now, and deliveries that waited for it.
    const slow = new Redis(proxy.port, '127.0.0.1', { socketTimeout: 5_000 });
    closing.push(() => {
      slow.disconnect();
    });
    const receiver = createReceiver({
      ...{ secret: SECRET, store: redisStore(slow), logger },
      on: { 'call:completed': () => undefined },
    });
    const body = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId: 'c1' }));
    const headers = await sign({ secret: SECRET, body });
    const { status } = await receiver.receive({ method: 'POST', headers, body });
    expect(status).toBe(200);
    proxy.delay(0);
    await receiver.close();
    expect(await speed(url)).toEqual([
      {
        ...{ check: 'store speed', result: 'warn', fix: having('disk') },
        text: expect.stringMatching(
          /deliveries waited for the store for \S+ m?s \(95th percentile\), which is more than 500 ms/,
        ),
      },
    ]);
  });

  test('an eviction policy is bad with a limit of memory, and a warning without one', async () => {
    const { client, url } = await redis();
    await client.set('call-webhooks:x', '1');
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const told = {
      text: 'maxmemory-policy is allkeys-lru: when the memory is full, Redis removes webhook ids and events, and events may then run twice.',
      fix: 'Set maxmemory-policy to noeviction.',
    };
    expect((await store(url)).found).toMatchObject([{ result: 'warn', ...told }]);
    await client.config('SET', 'maxmemory', '100mb');
    const limited = await store(url);
    expect(limited.found).toMatchObject([{ result: 'bad', ...told }]);
    expect(limited.code).toBe(1);
  });

  test('a replica refuses to write', async () => {
    const primary = await redis();
    const replica = await redis();
    await replica.client.replicaof('127.0.0.1', primary.port);
    const { code, found } = await store(replica.url);
    expect(found).toContainEqual({
      ...{ check: 'store', result: 'bad', text: having('The server is a replica') },
      fix: 'Use the URL of the primary.',
    });
    expect(code).toBe(1);
  });

  test('without appendonly, a restart forgets', async () => {
    const { client, url } = await redis();
    await client.set('call-webhooks:x', '1');
    await client.config('SET', 'appendonly', 'no');
    expect((await store(url)).found).toMatchObject([
      { result: 'warn', text: having('appendonly') },
    ]);
  });

  test('a cluster is named as one, and one that is down is bad', async () => {
    const node = await redis({ cluster: [0, 16_383] });
    const isUp = async () => (await node.client.cluster('INFO')).includes('cluster_state:ok');
    await waitFor(isUp);
    await node.client.set('call-webhooks:x', '1');
    expect((await store(node.url)).found).toMatchObject([
      { result: 'ok', text: having(', a cluster responds') },
    ]);
    await node.client.cluster('DELSLOTSRANGE', 0, 100);
    await waitFor(async () => !(await isUp()));
    expect((await store(node.url)).found).toMatchObject([
      { result: 'bad', text: having('The cluster is down') },
    ]);
  });
});

const postgres = { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' };

describeWithProgram(postgres, 'doctor on Postgres', () => {
  test('a server that only reads is bad', async () => {
    const server = await startPostgres();
    closing.push(() => server.remove());
    const pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
    closing.push(() => pool.end());
    await postgresStore(pool).migrate();
    expect((await store(server.url)).found).toMatchObject([{ result: 'ok' }]);
    const name = new URL(server.url).pathname.slice(1);
    await pool.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    expect((await store(server.url)).found).toMatchObject([
      { result: 'bad', text: having('read-only'), fix: 'Use the URL of the primary.' },
    ]);
  });
});

const mariadb = { name: 'mariadbd', path: mariadbProgram(), installedBy: 'mariadb-server' };

describeWithProgram(mariadb, 'doctor on MariaDB', () => {
  test('a server that only reads is bad, under both of its schemes', async () => {
    const server = await startMysql();
    closing.push(() => server.remove());
    const pool = createPool({ uri: server.url });
    closing.push(() => pool.end());
    const url = server.url.replace('mysql:', 'mariadb:');
    expect((await store(url)).found).toMatchObject([
      { result: 'bad', text: having('store.migrate()'), fix: having('--prefix') },
    ]);
    await mysqlStore(pool).migrate();
    for (const one of [server.url, url])
      expect((await store(one)).found).toMatchObject([
        { result: 'ok', text: expect.stringMatching(/^MariaDB \d+\.\d+\.\d+ responds\.$/) },
      ]);
    await pool.query('SET GLOBAL read_only = ON');
    expect((await store(url)).found).toMatchObject([
      { result: 'bad', text: having('read-only'), fix: 'Use the URL of the primary.' },
    ]);
    expect((await store(`${url}_of_another`)).found).toMatchObject([
      { result: 'bad', fix: 'Check the database name in the URL.' },
    ]);
    expect((await store(url.replace('root@', 'nobody:wrong@'))).found).toMatchObject([
      { result: 'bad', fix: having('Check the user name and the password in the URL.') },
    ]);
  });
});
