// A process of its own: a receiver and its console. Arguments: the secret, and the store's engine and URL.
import { memoryDeadLetters, memoryStore, type Store } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { postgresStore } from '@call-webhooks/postgres';
import { redisStore } from '@call-webhooks/redis';
import { sqliteStore } from '@call-webhooks/sqlite';
import express from 'express';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import type { AddressInfo } from 'node:net';
import { consoleStats, createConsole } from '../src/index.ts';

const [secret = '', engine = 'memory', url = ''] = process.argv.slice(2);

async function openStore(): Promise<Store> {
  if (engine === 'redis') return redisStore(new Redis(url));
  if (engine === 'sqlite') return sqliteStore(new Database(url));
  if (engine !== 'postgres') return memoryStore();
  const store = postgresStore(new pg.Pool({ connectionString: url }));
  await store.migrate();
  return store;
}

const store = await openStore();
const deadLetters = memoryDeadLetters();
const hook = callWebhooks({
  secret: [{ id: 'current', secret }],
  store,
  deadLetter: deadLetters,
  maxAttempts: 1,
  on: {
    'call:started': () => undefined,
    'call:completed': ({ callId }) => {
      if (callId === 'broken') throw new Error('the CRM is down');
    },
  },
});
const stats = engine === 'memory' ? undefined : consoleStats({ store, every: 1_000 });
const console = createConsole({
  ...{ receiver: hook.receiver, deadLetters, stats },
  authorize: () => ({ name: 'Ada' }),
});

const app = express();
app.all('/hook', hook);
app.use('/ops/webhooks', console);
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`port ${String((server.address() as AddressInfo).port)}\n`);
});
