// One of several processes behind a balancer: a receiver and its console. Arguments, in JSON: its options.
import type { AddressInfo } from 'node:net';
import { createClient } from '@call-webhooks/client';
import type { DeadLetters, Store } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import { redisDeadLetters, redisStore } from '@call-webhooks/redis';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import express from 'express';
import { Redis } from 'ioredis';
import Database from 'libsql';
import pg from 'pg';
import { createConsole } from '../src/index.ts';

export interface AppOptions {
  secret: string;
  engine: string;
  /** Of its store. */
  url: string;
  service: { baseUrl: string; apiToken: string };
}

const options = JSON.parse(process.argv[2] ?? '{}') as AppOptions;

async function open(): Promise<{ store: Store; deadLetters: DeadLetters }> {
  const { engine, url } = options;
  if (engine === 'redis') {
    const client = new Redis(url);
    return { store: redisStore(client), deadLetters: redisDeadLetters(client) };
  }
  if (engine === 'sqlite') {
    const db = new Database(url);
    return { store: sqliteStore(db), deadLetters: sqliteDeadLetters(db) };
  }
  const pool = new pg.Pool({ connectionString: url });
  const store = postgresStore(pool);
  await store.migrate();
  return { store, deadLetters: postgresDeadLetters(pool) };
}

const { store, deadLetters } = await open();
/** What the handlers do; each process can be told. */
const orders = { broken: true, stuck: false };
const hook = callWebhooks({
  secret: [
    { id: 'new', secret: options.secret },
    { id: 'old', secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}` },
  ],
  store,
  deadLetter: deadLetters,
  maxAttempts: 1,
  maxInFlight: 1_000,
  storeTimeout: 10_000, // a busy machine must not add outcomes
  logger: { warn: () => undefined, error: () => undefined },
  on: {
    'call:started': () => undefined,
    'call:completed': async ({ callId }) => {
      if (orders.broken && callId?.startsWith('broken')) throw new Error(`no contact "${callId}"`);
      if (orders.stuck && callId === 'broken-stuck') await new Promise(() => undefined);
    },
  },
});
const ops = createConsole({
  ...{ receiver: hook.receiver, deadLetters, authorize: () => ({ name: 'Ada' }) },
  redrive: { concurrency: 1, leaseFor: 1_000 },
  reconcile: { client: createClient(options.service) },
  logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
});

const app = express();
app.all('/hook', hook);
app.use('/ops/webhooks', ops);
app.post('/orders', express.json(), (request, response) => {
  Object.assign(orders, request.body);
  response.json({});
});
const server = app.listen(0, '127.0.0.1', () => {
  process.stdout.write(`port ${String((server.address() as AddressInfo).port)}\n`);
});
