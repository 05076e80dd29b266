// One of several machines: Express with a store in a shared SQLite file, whose clock is that of the test.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { callWebhooks } from '@call-webhooks/express';
import { sqliteDeadLetters, sqliteStore } from '@call-webhooks/sqlite';
import express from 'express';
import Database from 'libsql';

/** What the machine is started with: JSON in its only argument. */
export interface MachineInput {
  database: string;
  /** A file with the `Outside` of the machine. */
  outside: string;
  /** The secrets of each tenant; without tenants, those of `''`. */
  secrets: Record<string, string[]>;
  hasDeadLetters: boolean;
}

/** What is outside of the machine, and changes. */
export interface Outside {
  /** Milliseconds since the epoch. */
  now: number;
  isCrmDown: boolean;
}

const input = JSON.parse(process.argv[2] ?? '') as MachineInput;
const outside = () => JSON.parse(readFileSync(input.outside, 'utf8')) as Outside;
const now = () => outside().now;
const db = new Database(input.database);
const handle = () => {
  if (outside().isCrmDown) throw new Error('The CRM is down.');
};
const hasTenants = !('' in input.secrets);
const line = (level: string) => (fields: object, message: string) =>
  process.send?.({
    line: { level, message, fields: JSON.parse(JSON.stringify(fields)) as object },
  });
const hook = callWebhooks({
  secret: ({ tenant }) => input.secrets[hasTenants ? tenant : ''],
  ...(hasTenants && { tenant: ({ path }) => path.split('/')[2] }),
  store: sqliteStore(db, { now }),
  ...(input.hasDeadLetters && { deadLetter: sqliteDeadLetters(db, { now }), maxAttempts: 2 }),
  now,
  logger: { warn: line('warn'), error: line('error') },
  on: {
    'call:started': () => undefined,
    'call:completed': handle,
    'call:recording-available': () => undefined,
  },
});
const server = express()
  .use('/hook', hook)
  .listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('disconnect', () => process.exit(1)); // the test is gone
