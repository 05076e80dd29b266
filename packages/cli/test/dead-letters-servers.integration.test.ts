import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import type { DeadLetters, Store } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import {
  describeWithProgram,
  postgresBinaries,
  redisServer,
  startPostgres,
} from '@call-webhooks/contract-tests';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
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
        await store.migrate();
        await redrivesOver(server.url, {
          store,
          deadLetters: postgresDeadLetters(pool, { schema: 'calls' }),
        });
      } finally {
        await store.close();
        await pool.end();
        await server.remove();
      }
    });
  },
);
