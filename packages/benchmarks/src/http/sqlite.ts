import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HandlerContext } from '@call-webhooks/core';
import Database from 'libsql';
import { importPackage } from '../checkout.ts';
import { handle, RECEIVER_OPTIONS } from './shared.ts';

/** A row for each delivery, in a transaction of the handler, in the file of the store. */
export const servers = {
  /** The receiver completes the event afterwards. */
  'sqlite + transaction': (root: string) => receiver(root, () => undefined),
  'sqlite + completeIn': (root: string) =>
    receiver(root, (db, { completeIn }) => void completeIn(db)),
};

type Db = InstanceType<typeof Database>;

async function receiver(root: string, complete: (db: Db, context: HandlerContext) => void) {
  const { createNodeHandler } = await importPackage<typeof import('@call-webhooks/core/node')>(
    root,
    'core',
    './node',
  );
  const { sqliteStore } = await importPackage<typeof import('@call-webhooks/sqlite')>(
    root,
    'sqlite',
  );
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
  });
  const db = new Database(join(folder, 'calls.db'));
  const store = sqliteStore(db);
  db.exec('CREATE TABLE calls (id TEXT)');
  const insert = db.prepare('INSERT INTO calls VALUES (?)');
  const save = db.transaction((id: string, context: HandlerContext) => {
    insert.run(id);
    complete(db, context);
  });
  const handler = createNodeHandler({
    ...RECEIVER_OPTIONS,
    store,
    storeTimeout: 10_000, // the disk may be busy
    on: {
      'call:completed': (event, context) => {
        handle(event);
        save(String(event.callId), context);
      },
    },
  });
  return createServer((request, response) => void handler(request, response)).listen(
    0,
    '127.0.0.1',
  );
}
