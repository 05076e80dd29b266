import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hash53 } from '@call-webhooks/core';
import Libsql from 'libsql';
import { importPackage } from '../checkout.ts';
import { idsBeside, type Database } from './filled-store.ts';

type Db = InstanceType<typeof Libsql>;

const IDS = 'call_webhooks_ids';
const EVENTS = 'call_webhooks_events';

/** Each size in a file of its own. */
export async function openSqlite(root: string): Promise<Database> {
  const { sqliteStore } = await importPackage<typeof import('@call-webhooks/sqlite')>(
    root,
    'sqlite',
  );
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
  const handles: Db[] = [];

  return {
    async fill(size) {
      const db = new Libsql(join(folder, `${String(size)}.db`));
      handles.push(db);
      const store = sqliteStore(db);
      await store.ping?.(); // creates its tables
      fill(db, size);
      const one = (text: string) => db.prepare(text).get() as Record<string, unknown>;
      const { bytes } = one(
        'SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size',
      );
      const { id } = one(`SELECT id FROM ${IDS} ORDER BY keep_until DESC LIMIT 1`);
      const { key } = one(`SELECT key FROM ${EVENTS} ORDER BY keep_until DESC LIMIT 1`);
      return {
        store,
        known: { webhookId: id as string, key: key as string },
        bytesPerEvent: Number(bytes) / size,
        count: () =>
          Promise.resolve(Number(one(`SELECT count(*) AS count FROM ${EVENTS}`)['count'])),
        expire(number) {
          for (const table of [IDS, EVENTS])
            db.exec(`UPDATE ${table} SET keep_until = 0 WHERE keep_until <= (
              SELECT max(keep_until) FROM (
                SELECT keep_until FROM ${table} ORDER BY keep_until LIMIT ${String(number)}))`);
          return Promise.resolve();
        },
      };
    },
    stop() {
      for (const db of handles) db.close();
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

/** Without a journal, and with a large cache, since the names are in random order. */
function fill(db: Db, size: number): void {
  db.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000');
  const addId = db.prepare(`INSERT INTO ${IDS} (hash, id, token, keep_until) VALUES (?, ?, ?, ?)`);
  const addEvent = db.prepare(
    `INSERT INTO ${EVENTS} (hash, key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, ?, 1, 1, 0, ?)`,
  );
  // They expire one after the other, before those that are added later.
  const keepFrom = Date.now() + 43_200_000;
  db.exec('BEGIN');
  for (let number = 0; number < idsBeside(size); number++) {
    const id = randomUUID();
    addId.run(hash53(id), id, randomUUID(), keepFrom + number);
  }
  for (let number = 0; number < size; number++) {
    const key = `${randomBytes(12).toString('hex')}:call:completed`;
    addEvent.run(hash53(key), key, randomUUID(), keepFrom + number);
  }
  db.exec('COMMIT');
  db.exec('PRAGMA cache_size = -2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
}
