import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeWithProgram, freePort, waitFor } from '@call-webhooks/contract-tests';
import pg from 'pg';
import postgres from 'postgres';
import { migrationSql, postgresDeadLetters, postgresStore } from '../src/index.ts';
import { freshSchema, openPool, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

/** How many machines migrate at once, and how often. */
const MACHINES = 8;
const ROUNDS = 6;

/** The columns of each table, and its indexes. A column with a C is sorted by its bytes. */
const TABLES = {
  cursors: ['name text C NOT NULL, cursor text NOT NULL', 'UNIQUE INDEX cursors_pkey (name)'],
  dead_letters: [
    'id text C NOT NULL, failed_at timestamp with time zone NOT NULL, reason text NOT NULL, event_name text NOT NULL, tenant text NOT NULL, letter text NOT NULL, body text NOT NULL, failures text[] NOT NULL, token text, claimed_until timestamp with time zone',
    'UNIQUE INDEX dead_letters_pkey (id)',
    'INDEX dead_letters_failed_at (failed_at, id)',
  ],
  events: [
    'key text C NOT NULL, token text NOT NULL, attempt integer NOT NULL, done boolean NOT NULL DEFAULT false, dead_lettered boolean NOT NULL DEFAULT false, lease_until timestamp with time zone NOT NULL, keep_until timestamp with time zone NOT NULL',
    'UNIQUE INDEX events_pkey (key)',
    'INDEX events_keep_until (keep_until)',
    'fillfactor=80',
  ],
  groups: [
    'id text C NOT NULL, key text C NOT NULL, keep_until timestamp with time zone NOT NULL',
    'UNIQUE INDEX groups_pkey (id)',
    'INDEX groups_keep_until (keep_until)',
  ],
  log_batches: [
    'id text C NOT NULL, taken_at bigint NOT NULL',
    'UNIQUE INDEX log_batches_pkey (id)',
    'INDEX log_batches_taken_at (taken_at)',
  ],
  log_counts: [
    'series text C NOT NULL, at bigint NOT NULL, name text C NOT NULL, count bigint NOT NULL',
    'UNIQUE INDEX log_counts_pkey (series, at, name)',
    'fillfactor=80',
  ],
  log_marks: [
    'name text C NOT NULL, at bigint NOT NULL',
    'UNIQUE INDEX log_marks_pkey (name)',
    'fillfactor=80',
  ],
  log_position: [
    'is_only boolean NOT NULL, n bigint NOT NULL, others bigint NOT NULL, failures bigint NOT NULL',
    'UNIQUE INDEX log_position_pkey (is_only)',
    'fillfactor=80',
  ],
  log_processes: [
    'id text C NOT NULL, process text NOT NULL, seen_at bigint NOT NULL',
    'UNIQUE INDEX log_processes_pkey (id)',
    'fillfactor=80',
  ],
  log_rows: [
    'n bigint NOT NULL, failures boolean NOT NULL, earlier bigint NOT NULL, count bigint NOT NULL, taken_at bigint NOT NULL, first_at bigint NOT NULL, last_at bigint NOT NULL, ahead bigint NOT NULL, rows text NOT NULL',
    'UNIQUE INDEX log_rows_pkey (n, failures)',
    'INDEX log_rows_earlier (failures, earlier)',
  ],
  schema_version: ['version integer NOT NULL, id text NOT NULL'],
  webhook_ids: [
    'id text C NOT NULL, token text NOT NULL, keep_until timestamp with time zone NOT NULL',
    'UNIQUE INDEX webhook_ids_pkey (id)',
    'INDEX webhook_ids_keep_until (keep_until)',
  ],
};

withPostgres('migrate() by several machines at once', () => {
  const test = usePostgres();

  /** Each machine has a connection of its own. @returns the versions that they found */
  async function migrateAtOnce(url: string, options: pg.PoolConfig = {}) {
    const pools = Array.from({ length: MACHINES }, () =>
      openPool(url, {
        ...{ max: 1, query_timeout: 20_000, connectionTimeoutMillis: 20_000 },
        ...options,
      }),
    );
    try {
      for (const pool of pools) await pool.query('SELECT 1'); // they are connected
      for (let round = 0; round < ROUNDS; round++) {
        const schema = freshSchema();
        const stores = pools.map((pool) => postgresStore(pool, { schema }));
        const migrations = await Promise.all(stores.map((store) => store.migrate()));
        for (const { to } of migrations) expect(to).toBe(1);
        const rows = await test.pool.query(
          `SELECT count(*)::int AS n FROM ${schema}.schema_version`,
        );
        expect(rows.rows).toEqual([{ n: 1 }]);
      }
    } finally {
      await Promise.all(pools.map((pool) => pool.end()));
    }
  }

  it('creates the tables once, of pools of pg', async () => {
    await migrateAtOnce(test.server.url);
  });

  it.each(['repeatable read', 'serializable'])(
    'creates the tables once where transactions are %s by default',
    async (level) => {
      const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
      await migrateAtOnce(test.server.url, { options });
    },
  );

  it('creates the tables once, of postgres.js', async () => {
    const clients = Array.from({ length: MACHINES }, () =>
      postgres(test.server.url, { max: 1, onnotice: () => undefined }),
    );
    for (const sql of clients) await sql`SELECT 1`;
    for (let round = 0; round < ROUNDS; round++) {
      const schema = freshSchema();
      await Promise.all(
        clients.map((sql) => {
          const query = (text: string, values: unknown[] = []) =>
            sql.unsafe(text, values as never[]);
          return postgresStore({ query }, { schema }).migrate();
        }),
      );
    }
    await Promise.all(clients.map((sql) => sql.end()));
  });

  it('creates the tables once by the statement alone, which single connections run', async () => {
    const clients = Array.from(
      { length: MACHINES },
      () => new pg.Client({ connectionString: test.server.url }),
    );
    for (const client of clients) await client.connect();
    for (let round = 0; round < ROUNDS; round++) {
      const schema = freshSchema();
      const text = migrationSql({ schema });
      // What a session has looked up before, it keeps in a cache.
      const look = `SELECT to_regnamespace('${schema}'), to_regclass('${schema}.events')`;
      await Promise.all(clients.map((client) => client.query(look)));
      await Promise.all(clients.map((client) => client.query(text)));
    }
    await Promise.all(clients.map((client) => client.end()));
  });

  it.each(['LATIN1', 'SQL_ASCII'])(
    'refuses a database in %s, and creates nothing',
    async (name) => {
      const database = `db_${name.toLowerCase()}`;
      await test.pool.query(
        `CREATE DATABASE ${database} ENCODING '${name}' LOCALE 'C' TEMPLATE template0`,
      );
      const pool = openPool(test.server.url.replace(/postgres$/, database));
      const schema = freshSchema();
      await expect(postgresStore(pool, { schema }).migrate()).rejects.toMatchObject({
        code: 'invalid-options',
        message: expect.stringContaining(`The database has the encoding ${name}`),
      });
      await expect(pool.query(migrationSql({ schema }))).rejects.toThrow(
        `encoding of this database is ${name}`,
      );
      const found = await pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
      expect(found.rowCount).toBe(0);
      await pool.end();
    },
  );

  describeWithProgram('pgbouncer', 'through PgBouncer in transaction mode', (program) => {
    let bouncer: ChildProcess;
    let port: number;
    const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bouncer-'));

    beforeAll(async () => {
      port = await freePort();
      const { hostname, port: server } = new URL(test.server.url);
      chmodSync(folder, 0o777);
      writeFileSync(join(folder, 'users'), '"postgres" ""\n');
      writeFileSync(
        join(folder, 'ini'),
        `[databases]
postgres = host=${hostname} port=${server} dbname=postgres user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${String(port)}
unix_socket_dir =
auth_type = any
auth_file = ${join(folder, 'users')}
pool_mode = transaction
default_pool_size = 4
`,
      );
      const isRoot = process.getuid?.() === 0;
      const args = [...(isRoot ? ['-u', 'postgres'] : []), join(folder, 'ini')];
      bouncer = spawn(program, args, { stdio: 'ignore' });
      await waitFor(() => listens(port), { what: 'pgbouncer listens', within: 10_000 });
    });
    afterAll(() => {
      bouncer.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    it('creates the tables once', async () => {
      await migrateAtOnce(test.server.url.replace(/:\d+\//, `:${String(port)}/`));
    });
  });

  describe('and then', () => {
    it('does nothing more', async () => {
      const store = postgresStore(test.pool, { schema: freshSchema() });
      expect(await store.migrate()).toEqual({ from: 0, to: 1 });
      expect(await store.migrate()).toEqual({ from: 1, to: 1 });
    });

    it.each(Object.keys(TABLES))('makes the table %s again if it was dropped', async (table) => {
      const schema = freshSchema();
      const store = postgresStore(test.pool, { schema });
      await store.migrate();
      const made = await tablesIn(schema);
      await test.pool.query(`DROP TABLE ${schema}.${table}`);
      const from = table === 'schema_version' ? 0 : 1;
      expect(await store.migrate()).toEqual({ from, to: 1 });
      expect(await tablesIn(schema)).toEqual(made);
    });
  });

  /** Each table of a schema, as in `TABLES`. */
  async function tablesIn(schema: string): Promise<Record<string, string[]>> {
    const { rows } = await test.pool.query<{ table: string; found: string[] }>(
      `SELECT relname AS table, (
         SELECT string_agg(concat(attname, ' ', format_type(atttypid, atttypmod), CASE collname WHEN 'C' THEN ' C' END,
           CASE WHEN attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum)
         FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
           LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
         WHERE attrelid = pg_class.oid AND attnum > 0
       ) || array(
         SELECT replace(regexp_replace(pg_get_indexdef(indexrelid), ' ON .* USING btree', ''), 'CREATE ', '')
         FROM pg_index WHERE indrelid = pg_class.oid ORDER BY NOT indisprimary
       ) || reloptions AS found
       FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY relname`,
      [schema],
    );
    return Object.fromEntries(rows.map(({ table, found }) => [table, found]));
  }

  it('makes the same tables, columns and indexes as the statement for files of migrations', async () => {
    const [migrated, byHand] = [freshSchema(), freshSchema()];
    await postgresDeadLetters(test.pool, { schema: migrated }).migrate();
    await test.pool.query(migrationSql({ schema: byHand }));
    const made = await tablesIn(migrated);
    expect(await tablesIn(byHand)).toEqual(made);
    expect(made).toEqual(TABLES);
  });
});

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const end = (isOpen: boolean) => () => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.on('connect', end(true)).on('error', end(false));
  });
