import { describe, expect, it } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import {
  migrate,
  migrationSql,
  sqliteDeadLetters,
  sqliteQueue,
  sqliteStore,
} from '../src/index.ts';
import { upgrade } from '../src/schema.ts';
import { eachClient, freshFile, useFile } from './support.ts';

/** The columns of each table, and its indexes. */
const TABLES = {
  cursors: ['name TEXT, cursor TEXT NOT NULL', 'UNIQUE INDEX pk (name)'],
  dead_letters: [
    'id TEXT, failed_at INTEGER NOT NULL, reason TEXT NOT NULL, event_name TEXT NOT NULL, tenant TEXT NOT NULL, letter TEXT NOT NULL, body TEXT NOT NULL, failures TEXT NOT NULL, token TEXT, claimed_until INTEGER NOT NULL DEFAULT 0',
    'INDEX dead_letters_failed_at (failed_at, id)',
    'UNIQUE INDEX pk (id)',
  ],
  events: [
    'key TEXT, token TEXT NOT NULL, attempt INTEGER NOT NULL, done INTEGER NOT NULL, lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL',
    'INDEX events_keep_until (keep_until)',
    'UNIQUE INDEX pk (key)',
  ],
  groups: [
    'id TEXT, key TEXT NOT NULL, keep_until INTEGER NOT NULL',
    'INDEX groups_keep_until (keep_until)',
    'UNIQUE INDEX pk (id)',
  ],
  ids: [
    'id TEXT, token TEXT NOT NULL, keep_until INTEGER NOT NULL',
    'INDEX ids_keep_until (keep_until)',
    'UNIQUE INDEX pk (id)',
  ],
  jobs: [
    "id INTEGER, event TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'open', due_at INTEGER NOT NULL, token TEXT, attempt INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0, abandon_reason TEXT, is_last_run INTEGER NOT NULL DEFAULT 0, error TEXT, failures TEXT, delivery TEXT",
    'INDEX jobs_due (state, due_at)',
    'UNIQUE INDEX u (event)',
  ],
  log_batches: [
    'id TEXT NOT NULL, taken_at INTEGER NOT NULL',
    'INDEX log_batches_taken_at (taken_at)',
    'UNIQUE INDEX pk (id)',
    'WITHOUT ROWID',
  ],
  log_counts: [
    'series TEXT NOT NULL, at INTEGER NOT NULL, name TEXT NOT NULL, count INTEGER NOT NULL',
    'UNIQUE INDEX pk (series, at, name)',
    'WITHOUT ROWID',
  ],
  log_marks: [
    'name TEXT NOT NULL, at INTEGER NOT NULL',
    'INDEX log_marks_at (at)',
    'UNIQUE INDEX pk (name)',
    'WITHOUT ROWID',
  ],
  log_processes: [
    'id TEXT, process TEXT NOT NULL, seen_at INTEGER NOT NULL',
    'UNIQUE INDEX pk (id)',
  ],
  log_rows: [
    'n INTEGER NOT NULL, failures INTEGER NOT NULL, earlier INTEGER NOT NULL, count INTEGER NOT NULL, taken_at INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, ahead INTEGER NOT NULL, rows TEXT NOT NULL',
    'INDEX log_rows_earlier (failures, earlier)',
    'UNIQUE INDEX pk (n, failures)',
  ],
  schema: ['version INTEGER NOT NULL, id TEXT NOT NULL'],
};

describe('the tables', () => {
  const test = useFile();
  const made = () =>
    test.db
      .prepare(`SELECT name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name`)
      .all() as { name: string; type: string }[];
  const version = () => test.db.prepare('SELECT version FROM call_webhooks_schema').all();
  const claim = { webhookId: 'w', key: 'event', token: 'token', leaseMs: 60_000 };
  const admitted = { status: 'admitted', attempt: 1 };
  const admit = () => sqliteStore(test.db).admit({ ...claim, replayUntil: Date.now() + 600_000 });

  it('are made by migrate, which says what it did', async () => {
    expect(await migrate(test.db)).toEqual({ from: 0, to: 1 });
    const tables = made();
    expect(await migrate(test.db)).toEqual({ from: 1, to: 1 });
    expect(await admit()).toEqual(admitted);
    expect(made()).toEqual(tables);
  });

  it('have these columns and indexes', async () => {
    await migrate(test.db);
    const prefix = 'call_webhooks_';
    const rowsOf = (text: string, ...values: string[]) =>
      test.db.prepare(text).all(...values) as Record<string, string | number | null>[];
    const found: Record<string, string[]> = {};
    for (const { name, wr } of rowsOf(
      `SELECT name, wr FROM pragma_table_list WHERE name LIKE '${prefix}%'`,
    )) {
      const table = String(name);
      const columns = rowsOf('SELECT * FROM pragma_table_info(?)', table).map((column) =>
        [
          ...[column['name'], column['type']],
          ...(column['notnull'] ? ['NOT NULL'] : []),
          ...(column['dflt_value'] === null ? [] : [`DEFAULT ${String(column['dflt_value'])}`]),
        ].join(' '),
      );
      const indexes = rowsOf(
        'SELECT name, "unique" AS isUnique, origin FROM pragma_index_list(?) ORDER BY name',
        table,
      ).map(({ name: index, isUnique, origin }) => {
        const of = rowsOf('SELECT name FROM pragma_index_info(?)', String(index));
        const called = origin === 'c' ? String(index).slice(prefix.length) : String(origin);
        return `${isUnique ? 'UNIQUE ' : ''}INDEX ${called} (${of.map((one) => one['name']).join(', ')})`;
      });
      found[table.slice(prefix.length)] = [
        ...[columns.join(', '), ...indexes],
        ...(wr ? ['WITHOUT ROWID'] : []),
      ];
    }
    expect(found).toEqual(TABLES);
  });

  it('are made at the first use of a store, a queue or dead letters', async () => {
    const uses = {
      store_: (prefix: string) => sqliteStore(test.db, { prefix }).ping?.(),
      queue_: (prefix: string) => sqliteQueue(test.db, { prefix }).ping(),
      letters_: (prefix: string) => sqliteDeadLetters(test.db, { prefix }).count(),
    };
    for (const [prefix, use] of Object.entries(uses)) {
      await use(prefix);
      expect(await migrate(test.db, { prefix })).toEqual({ from: 1, to: 1 });
    }
  });

  it('may be made by hand, and once more', async () => {
    for (let time = 1; time <= 2; time++) test.db.exec(migrationSql());
    expect(await migrate(test.db)).toEqual({ from: 1, to: 1 });
    expect(await admit()).toEqual(admitted);
    expect(test.db.prepare('SELECT count(*) AS rows FROM call_webhooks_schema').all()).toEqual([
      { rows: 1 },
    ]);
  });

  it('have a prefix, which is checked', async () => {
    expect(await migrate(test.db, { prefix: 'mine_' })).toEqual({ from: 0, to: 1 });
    expect(migrationSql({ prefix: 'mine_' })).toContain('CREATE TABLE IF NOT EXISTS mine_events');
    expect(() => migrationSql({ prefix: 'a-b' })).toThrow('Invalid options of migrationSql');
    await expect(migrate(test.db, { prefix: 'a-b' })).rejects.toThrow('Invalid options of migrate');
    await expect(migrate({} as never)).rejects.toThrow('Invalid database of migrate');
  });

  it('of a newer version are refused, by a process that starts and by one that runs', async () => {
    const store = sqliteStore(test.db);
    const queue = sqliteQueue(test.db);
    await store.ping?.();
    await queue.ping();
    test.db.exec('UPDATE call_webhooks_schema SET version = 2');
    const newer =
      /^The tables call_webhooks_\* were created by a newer release of @call-webhooks\/sqlite: they have version 2, and this process knows version 1\. Update this process\. See .*stores\.html#sqlite$/;
    await expect(store.admit({ ...claim, replayUntil: Date.now() })).rejects.toThrow(newer);
    await expect(queue.enqueue(queuedCall('call-1'))).rejects.toThrow(newer);
    await expect(sqliteDeadLetters(test.db).count()).rejects.toThrow(newer);
    await expect(migrate(test.db)).rejects.toThrow(newer);
    expect(version()).toEqual([{ version: 2 }]);
  });

  it('that somebody dropped are made again, and the others stay as they are', async () => {
    await migrate(test.db);
    const tables = made();
    await admit();
    const isOurs = ({ name, type }: { name: string; type: string }) =>
      type === 'table' && name.startsWith('call_webhooks_');
    const others = tables.filter(isOurs).map(({ name }) => name);
    // Without the first of these there is no version, and the second one has the event of this test.
    const kept = ['schema', 'events'].map((name) => `call_webhooks_${name}`);
    expect(others).toEqual(expect.arrayContaining(kept));
    for (const name of others.filter((one) => !kept.includes(one))) {
      test.db.exec(`DROP TABLE ${name}`);
      expect(await migrate(test.db)).toEqual({ from: 1, to: 1 });
      expect(made()).toEqual(tables);
    }
    expect(await sqliteStore(test.db).peek?.(['event'])).toEqual(['running']);
  });

  it('of an older version are upgraded, each step once', async () => {
    await migrate(test.db);
    await admit();
    const steps = [
      () => 'SELECT never',
      (prefix: string) =>
        `ALTER TABLE ${prefix}events ADD COLUMN note TEXT; UPDATE ${prefix}schema SET version = 2`,
    ];
    expect(upgrade(test.db, 'call_webhooks_', steps)).toMatchObject({ version: 1 });
    expect(upgrade(test.db, 'call_webhooks_', steps)).toMatchObject({ version: 2 });
    expect(test.db.prepare('SELECT key, note FROM call_webhooks_events').all()).toEqual([
      { key: 'event', note: null },
    ]);
  });
});

eachClient(({ name, open }) => {
  it(`the tables are made once by processes that start together: ${name}`, async () => {
    const { file, remove } = freshFile();
    const handles = Array.from({ length: 5 }, () => open(file));
    const results = await Promise.all(handles.map((handle) => migrate(handle)));
    expect(results.filter(({ from }) => from === 0)).toHaveLength(1);
    for (const handle of handles) handle.close();
    remove();
  });
});
