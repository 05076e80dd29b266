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
const ID_NAMES = 'call_webhooks_id_names';
const EVENT_NAMES = 'call_webhooks_event_names';

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
      const file = join(folder, `${String(size)}.db`);
      const filling = new Libsql(file);
      await sqliteStore(filling).ping?.(); // creates the tables
      fill(filling, size);
      filling.close();
      const db = new Libsql(file);
      handles.push(db);
      const store = sqliteStore(db);
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
  // They expire one after the other, before those that are added later.
  const keepFrom = Date.now() + 43_200_000;
  const add = {
    ids: db.prepare(`INSERT INTO ${IDS} (id, token, keep_until) VALUES (?, ?, ?)`),
    events: db.prepare(
      `INSERT INTO ${EVENTS} (key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, 1, 1, 0, ?)`,
    ),
  };
  const name = {
    ids: db.prepare(`INSERT INTO ${ID_NAMES} VALUES (?, ?)`),
    events: db.prepare(`INSERT INTO ${EVENT_NAMES} VALUES (?, ?)`),
  };
  db.exec('BEGIN');
  const rows = (table: 'ids' | 'events', number: number, text: () => string) => {
    for (let row = 0; row < number; row++) {
      const one = text();
      const { lastInsertRowid } = add[table].run(one, randomUUID(), keepFrom + row);
      name[table].run(slotOf(hash53(one) % 2 ** 30, number - row), lastInsertRowid);
    }
  };
  rows('ids', idsBeside(size), randomUUID);
  rows('events', size, () => `${randomBytes(12).toString('hex')}:call:completed`);
  db.exec('COMMIT');
}

/** Newer names lie on earlier levels, as if they had been added one by one. */
function slotOf(hash: number, age: number): number {
  const level = [1_024, 20 * 1_024, 20 ** 2 * 1_024].filter((capacity) => age > capacity).length;
  return level * 2 ** 30 + hash - 2 ** 31;
}
