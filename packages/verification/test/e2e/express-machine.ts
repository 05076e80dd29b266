// One of several machines: Express with a store in a shared SQLite file. On SIGTERM it shuts down as
// the docs recommend. Each effect is a line in a file.
import { appendFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { callWebhooks } from '@call-webhooks/express';
import { sqliteStore } from '@call-webhooks/sqlite';
import express from 'express';
import Database from 'libsql';

/** What the machine is started with: JSON in its only argument. */
export interface MachineInput {
  port: number;
  secret: string;
  database: string;
  effects: string;
  /** How long a handler takes; milliseconds. */
  slowness: number;
}

/** Deliveries that arrive while it closes are refused, which is logged, and expected. */
function unlessClosing(fields: object, text: string): void {
  if ((fields as { outcome?: string }).outcome !== 'shutting-down') console.error(fields, text);
}

const input = JSON.parse(process.argv[2] ?? '') as MachineInput;
const db = new Database(input.database);
const hook = callWebhooks({
  secret: input.secret,
  store: sqliteStore(db),
  logger: { warn: console.error, error: unlessClosing },
  on: {
    'call:completed': async ({ callId }) => {
      await delay(input.slowness);
      appendFileSync(input.effects, `${String(callId)}\n`);
    },
  },
});
const server = express()
  .all('/hook', hook)
  .listen(input.port, '127.0.0.1', () =>
    process.send?.({ port: (server.address() as AddressInfo).port }),
  );

process.on('disconnect', () => process.exit(1)); // the test is gone
process.once('SIGTERM', () => void close());

async function close(): Promise<void> {
  await hook.receiver.close(); // 503 for what comes now
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  db.close();
  process.exit(0);
}
