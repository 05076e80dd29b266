import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { expect, test } from '@jest/globals';
import type { DeadLetters, Store } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import {
  describeWithProgram,
  mariadbProgram,
  postgresBinaries,
  redisServer,
  startMysql,
  startPostgres,
  waitFor,
} from '@call-webhooks/contract-tests';
import { mysqlDeadLetters, mysqlStore } from '@call-webhooks/mysql';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { Cluster, Redis } from 'ioredis';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { certificate } from './support/certificate.ts';
import { fill, logger } from './support/dead-letters.ts';
import { SECRET } from './support/receiver.ts';
import { run } from './support/run.ts';

/** The letters of a server, seen and redriven with the command line. */
async function redrivesOver(url: string, parts: { store: Store; deadLetters: DeadLetters }) {
  const handled: (string | undefined)[] = [];
  const hook = createNodeHandler({
    secret: SECRET,
    on: { 'call:completed': (_event, { key }) => void handled.push(key) },
    ...{ store: parts.store, deadLetter: parts.deadLetters, logger },
  });
  const server = createServer((request, response) => void hook(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const keys = await fill(parts, 5);
    const store = ['--store', url, '--prefix', 'calls'];
    const listed = await run(['dead-letters', 'list', ...store, '--json']);
    expect(listed.records().map(({ key }) => key)).toEqual(keys);
    const to = ['--to', `http://127.0.0.1:${String(port)}/hook`, '--secret', SECRET];
    const redriven = await run(['dead-letters', 'redrive', '--all', ...store, ...to]);
    expect(redriven).toMatchObject({ code: 0, stdout: '5 handled, 0 failed, 0 skipped\n' });
    expect(handled).toEqual(keys);
    expect(await parts.deadLetters.count()).toBe(0);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describeWithProgram('redis-server', 'dead-letters of Redis', () => {
  test('are listed and redriven', async () => {
    const server = await redisServer();
    await server.start();
    const redis = new Redis(server.port, '127.0.0.1');
    try {
      const options = { prefix: 'calls', logger };
      await redrivesOver(`redis://127.0.0.1:${String(server.port)}`, {
        store: redisStore(redis, options),
        deadLetters: redisDeadLetters(redis, options),
      });
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });

  test('in a database that the server does not have are an error that says so', async () => {
    const server = await redisServer();
    await server.start();
    try {
      const url = `redis://127.0.0.1:${String(server.port)}/99`;
      const { code, stderr } = await run(['dead-letters', 'list', '--store', url]);
      expect(code).toBe(3);
      expect(stderr).toMatch(/^error: The store failed: .*DB index/);
      expect(stderr).toContain('Check the database number');
    } finally {
      await server.stop();
    }
  });
});

describeWithProgram('redis-server', 'dead-letters of a Redis cluster', () => {
  test('are found on whichever node they are', async () => {
    const nodes = [
      await redisServer({ cluster: [0, 8_191] }),
      await redisServer({ cluster: [8_192, 16_383] }),
    ] as const;
    for (const node of nodes) await node.start();
    const [first, second] = nodes.map(({ port }) => new Redis(port, '127.0.0.1')) as [Redis, Redis];
    const admins: { disconnect(): void }[] = [first, second];
    try {
      // `<id> <host>:<port>@<port of the bus> …`
      const [, port, bus] = /:(\d+)@(\d+)/.exec(String(await second.cluster('NODES'))) ?? [];
      await first.cluster('MEET', '127.0.0.1', Number(port), Number(bus));
      for (const admin of [first, second])
        await waitFor(async () => {
          const info = await admin.cluster('INFO');
          return info.includes('cluster_state:ok') && info.includes('cluster_slots_ok:16384');
        });
      const cluster = new Cluster([{ host: '127.0.0.1', port: nodes[0].port }]);
      admins.push(cluster);
      const options = { prefix: 'calls', logger };
      await fill(
        { store: redisStore(cluster, options), deadLetters: redisDeadLetters(cluster, options) },
        3,
      );
      for (const { port } of nodes) {
        const store = ['--store', `redis://127.0.0.1:${String(port)}`, '--prefix', 'calls'];
        const listed = await run(['dead-letters', 'list', ...store, '--json']);
        expect(listed.records()).toHaveLength(3);
      }
    } finally {
      for (const one of admins) one.disconnect();
      for (const node of nodes) await node.stop();
    }
  });
});

describeWithProgram('redis-server', 'what is wrong with Redis', () => {
  const list = (url: string, ...flags: string[]) =>
    run(['dead-letters', 'list', '--store', url, ...flags]);

  test('each failure has its own message and fix', async () => {
    const server = await redisServer();
    await server.start();
    const redis = new Redis(server.port, '127.0.0.1');
    const host = `127.0.0.1:${String(server.port)}`;
    try {
      const empty = await list(`redis://${host}`);
      expect(empty.code).toBe(0);
      expect(empty.stderr).toContain('no key that starts with call-webhooks: at all');
      const tls = await list(`rediss://${host}`);
      expect(tls).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('the URL starts with redis://') as unknown,
      });
      await redis.config('SET', 'requirepass', 'right');
      expect((await list(`redis://${host}`)).stderr).toContain('Add the password');
      expect((await list(`redis://:wrong@${host}`)).stderr).toContain('Check the user name');
      expect((await list(`redis://:right@${host}`)).code).toBe(0);
    } finally {
      redis.disconnect();
      await server.stop();
    }
  });

  test('TLS that is not expected, or not trusted', async () => {
    const server = createTlsServer(certificate(), (socket) => socket.on('error', () => undefined));
    server.on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    expect((await list(`rediss://${host}`)).stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect((await list(`redis://${host}`)).stderr).toContain('use rediss://');
    server.close();
  });
});

describeWithProgram('openssl', 'a Postgres whose certificate', () => {
  test('is not trusted, or is for another host, is named with its fix', async () => {
    const own = certificate();
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.write('S'); // the answer to the request for TLS
        const secure = new TLSSocket(socket, { isServer: true, ...own });
        secure.on('error', () => undefined);
      });
    });
    await once(server.listen(0), 'listening');
    const folder = mkdtempSync(join(tmpdir(), 'cli-postgres-'));
    try {
      const { port } = server.address() as AddressInfo;
      const list = (host: string, query: string) => {
        const url = `postgres://user:right@${host}:${String(port)}/db?${query}`;
        return run(['dead-letters', 'list', '--store', url]);
      };
      const untrusted = await list('127.0.0.1', 'sslmode=verify-full');
      expect(untrusted.code).toBe(3);
      expect(untrusted.stderr).toContain('sslrootcert=FILE');
      expect(untrusted.stderr).not.toContain('right');
      const file = join(folder, 'cert.pem');
      writeFileSync(file, own.cert);
      const other = await list('127.0.0.2', `sslmode=verify-full&sslrootcert=${file}`);
      expect(other.stderr).toContain('Use the host name of the certificate');
    } finally {
      server.close();
      rmSync(folder, { recursive: true });
    }
  });
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'dead-letters of Postgres',
  () => {
    test('are listed and redriven', async () => {
      const server = await startPostgres();
      const pool = new pg.Pool({ connectionString: server.url });
      pool.on('error', () => undefined); // the server may stop first
      const store = postgresStore(pool, { schema: 'calls' });
      try {
        const list = (url: string) =>
          run(['dead-letters', 'list', '--store', url, '--prefix', 'calls']);
        const missing = await list(server.url);
        expect(missing).toMatchObject({
          code: 3,
          stderr: expect.stringContaining('store.migrate()') as unknown,
        });
        expect(missing.stderr).toContain(
          'Check the database in the URL, and --prefix, which is the schema for Postgres.',
        );
        expect((await list(`${server.url}?sslmode=require`)).stderr).toContain('does not use TLS');
        await store.migrate();
        await redrivesOver(server.url, {
          store,
          deadLetters: postgresDeadLetters(pool, { schema: 'calls' }),
        });
        // The commands have closed theirs.
        const ask = 'SELECT 1 FROM pg_stat_activity WHERE datname = current_database()';
        const left = async () => Number((await pool.query(ask)).rowCount) - pool.totalCount;
        await waitFor(async () => (await left()) <= 0, { within: 5_000 }); // before they are idle for too long
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
  'dead-letters of MariaDB',
  () => {
    test('are listed and redriven', async () => {
      const server = await startMysql();
      const pool = createPool({ uri: server.url });
      const store = mysqlStore(pool, { prefix: 'calls' });
      try {
        await store.migrate();
        await redrivesOver(server.url, {
          store,
          deadLetters: mysqlDeadLetters(pool, { prefix: 'calls' }),
        });
      } finally {
        await store.close();
        await pool.end();
        await server.remove();
      }
    });
  },
);
