// A receiver with its console, in a process of its own, so that it can be stopped and started again. Its
// store and its dead letters are in a file that survives it.
import express from 'express';
import type { AddressInfo } from 'node:net';
import { createClient } from '@call-webhooks/client';
import { memoryStore, type CallCompletedEvent, type CallStartedEvent } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { consoleStats, createConsole } from '../../src/index.ts';

/** What the process is started with: JSON in its only argument. */
export interface ReceiverInput {
  file: string;
  /** 0 for a free one. */
  port: number;
  secret: string;
  readOnly?: boolean;
  /** Whether the person may change anything; `true` by default. */
  canWrite?: boolean;
  /** Keeps the store in memory, as if it had begun this long ago; milliseconds. */
  memoryFor?: number;
  /** How often a handler may fail; 1 by default. */
  maxAttempts?: number;
  /** Whether the processes count together. */
  shared?: boolean;
  withoutDeadLetters?: boolean;
  /** The service to reconcile with. */
  service?: { baseUrl: string; apiToken: string };
}

/** What it can be told while it runs. It answers `{ done: true }`. */
export interface Orders {
  /** Handlers fail. */
  broken?: boolean;
  /** Whether the person may see the console. */
  allowed?: boolean;
  /** Handlers wait until this is `false`. */
  held?: boolean;
}

const input = JSON.parse(process.argv[2] ?? '') as ReceiverInput;
const now: Required<Orders> = { broken: false, allowed: true, held: false };
let release: (() => void)[] = [];
process.on('disconnect', () => process.exit(1));
process.on('message', (orders: Orders) => {
  Object.assign(now, orders);
  if (!now.held) for (const go of release.splice(0)) go();
  release = [];
  process.send?.({ done: true });
});

async function handle(event: CallCompletedEvent | CallStartedEvent): Promise<void> {
  if (now.held) await new Promise<void>((go) => release.push(go));
  if (now.broken) throw new Error(`The CRM refused ${event.eventName}: <b>no such contact</b>`);
}

function memoryFor(ms: number) {
  let behind = ms;
  const memory = memoryStore({ now: () => Date.now() - behind });
  behind = 0;
  return memory;
}

const db = new Database(input.file);
const store = input.memoryFor === undefined ? sqliteStore(db) : memoryFor(input.memoryFor);
const deadLetters = sqliteDeadLetters(db);
const hook = callWebhooks({
  secret: input.secret,
  store,
  deadLetter: deadLetters,
  maxAttempts: input.maxAttempts ?? 1,
  logger: { warn: () => undefined, error: () => undefined },
  on: { 'call:started': handle, 'call:completed': handle },
});
const logged: unknown[] = [];
const app = express();
app.all('/hook', hook);
app.get('/test/logged', (_request, response) => response.json(logged));
app.use(
  '/ops/webhooks',
  createConsole({
    receiver: hook.receiver,
    ...(!input.withoutDeadLetters && { deadLetters, redrive: { concurrency: 1 } }),
    ...(input.service && { reconcile: { client: createClient(input.service) } }),
    ...(input.shared && { stats: consoleStats({ store, every: 1_000 }) }),
    readOnly: input.readOnly ?? false,
    authorize: () => now.allowed && { name: 'Ada <Ops>', canWrite: input.canWrite ?? true },
    onAction: (action) => logged.push(action),
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined },
  }),
);
const server = app.listen(input.port, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
