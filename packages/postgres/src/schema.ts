import { checkOptions, option } from '@call-webhooks/core/stores';

/** The version of the tables below. A release that changes one of them raises it. */
export const VERSION = 1;

/** It goes into the statements as it is. Postgres keeps 63 bytes of a name. */
export const schemaOption = () =>
  option.default(
    option.text(/^[a-z_][a-z0-9_]{0,62}$/, 'expected up to 63 lower-case letters, digits and _'),
    'call_webhooks',
  );

/** What a migration did. */
export interface Migration {
  /** The version of the tables before; 0 if there were none. */
  readonly from: number;
  /** The version of the tables now. */
  readonly to: number;
}

/**
 * Returns the SQL statement that `migrate()` runs, for migrations that you keep in files. It creates
 * the schema and its tables if they are missing, and otherwise changes nothing.
 *
 * It is a single statement, so it is atomic with every client. It takes a lock, so that several
 * machines may run it at once. A role without the right CREATE can run it once everything exists.
 * @param options.schema `call_webhooks` by default
 * @throws WebhookError `invalid-options` for a name that would need quotes
 * @example
 * writeFileSync('migrations/001-call-webhooks.sql', migrationSql());
 */
export function migrationSql(options: { schema?: string | undefined } = {}): string {
  const { schema: name } = checkOptions('migrationSql', { schema: schemaOption() }, options);
  const isMissing = (table: string) =>
    `NOT EXISTS (SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
    WHERE nspname = '${name}' AND relname = '${table}')`;
  return `DO $migration$
BEGIN
  IF getdatabaseencoding() <> 'UTF8' THEN
    RAISE EXCEPTION 'call-webhooks: the encoding of this database is %, which cannot keep every text. Use a database with the encoding UTF8.', getdatabaseencoding();
  END IF;
  PERFORM pg_advisory_xact_lock(hashtext('call-webhooks migrate'), hashtext('${name}'));
  -- Not by to_regnamespace(), which answers from a cache: another session may just have created it.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = '${name}') THEN
    CREATE SCHEMA ${name};
  END IF;
  IF ${isMissing('webhook_ids')} THEN
    CREATE TABLE ${name}.webhook_ids (
      id text COLLATE "C" PRIMARY KEY,
      token text NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX webhook_ids_keep_until ON ${name}.webhook_ids (keep_until);
  END IF;
  IF ${isMissing('events')} THEN
    -- Room on each page, so that completing an event touches no index.
    CREATE TABLE ${name}.events (
      key text COLLATE "C" PRIMARY KEY,
      token text NOT NULL,
      attempt integer NOT NULL,
      done boolean NOT NULL DEFAULT false,
      dead_lettered boolean NOT NULL DEFAULT false,
      lease_until timestamptz NOT NULL,
      keep_until timestamptz NOT NULL
    ) WITH (fillfactor = 80);
    CREATE INDEX events_keep_until ON ${name}.events (keep_until);
  END IF;
  IF ${isMissing('groups')} THEN
    CREATE TABLE ${name}.groups (
      id text COLLATE "C" PRIMARY KEY,
      key text COLLATE "C" NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX groups_keep_until ON ${name}.groups (keep_until);
  END IF;
  IF ${isMissing('cursors')} THEN
    CREATE TABLE ${name}.cursors (
      name text COLLATE "C" PRIMARY KEY,
      cursor text NOT NULL
    );
  END IF;
  IF ${isMissing('dead_letters')} THEN
    CREATE TABLE ${name}.dead_letters (
      id text COLLATE "C" PRIMARY KEY,
      failed_at timestamptz NOT NULL,
      reason text NOT NULL,
      event_name text NOT NULL,
      tenant text NOT NULL,
      letter text NOT NULL,
      body text NOT NULL,
      failures text[] NOT NULL,
      token text,
      claimed_until timestamptz
    );
    CREATE INDEX dead_letters_failed_at ON ${name}.dead_letters (failed_at, id);
  END IF;
  IF ${isMissing('log_batches')} THEN
    CREATE TABLE ${name}.log_batches (
      id text COLLATE "C" PRIMARY KEY,
      taken_at bigint NOT NULL
    );
    CREATE INDEX log_batches_taken_at ON ${name}.log_batches (taken_at);
  END IF;
  IF ${isMissing('log_rows')} THEN
    -- The rows of one kind of one batch, as JSON, and how many rows of that kind came earlier.
    CREATE TABLE ${name}.log_rows (
      n bigint NOT NULL,
      failures boolean NOT NULL,
      earlier bigint NOT NULL,
      count bigint NOT NULL,
      taken_at bigint NOT NULL,
      first_at bigint NOT NULL,
      last_at bigint NOT NULL,
      ahead bigint NOT NULL,
      rows text NOT NULL,
      PRIMARY KEY (n, failures)
    );
    CREATE INDEX log_rows_earlier ON ${name}.log_rows (failures, earlier);
  END IF;
  IF ${isMissing('log_position')} THEN
    -- One row: the number of the last batch, and how many rows there have been. A sequence would be behind
    -- after a restore of the data alone.
    CREATE TABLE ${name}.log_position (
      is_only boolean PRIMARY KEY CHECK (is_only),
      n bigint NOT NULL,
      others bigint NOT NULL,
      failures bigint NOT NULL
    ) WITH (fillfactor = 80);
  END IF;
  IF ${isMissing('log_counts')} THEN
    CREATE TABLE ${name}.log_counts (
      series text COLLATE "C" NOT NULL,
      at bigint NOT NULL,
      name text COLLATE "C" NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (series, at, name)
    ) WITH (fillfactor = 80);
  END IF;
  IF ${isMissing('log_marks')} THEN
    CREATE TABLE ${name}.log_marks (
      name text COLLATE "C" PRIMARY KEY,
      at bigint NOT NULL
    ) WITH (fillfactor = 80);
  END IF;
  IF ${isMissing('log_processes')} THEN
    CREATE TABLE ${name}.log_processes (
      id text COLLATE "C" PRIMARY KEY,
      process text NOT NULL,
      seen_at bigint NOT NULL
    ) WITH (fillfactor = 80);
  END IF;
  IF ${isMissing('schema_version')} THEN
    -- One row, whose random id tells these tables from those of the same name in another database.
    CREATE TABLE ${name}.schema_version (
      version integer NOT NULL,
      id text NOT NULL
    );
    INSERT INTO ${name}.schema_version
      VALUES (${String(VERSION)}, md5(random()::text || clock_timestamp()::text));
  END IF;
END
$migration$`;
}

/** A row that a health check writes: its table, its key, and the values of its other columns, in SQL. */
export interface ProbedTable {
  readonly table: string;
  readonly key: string;
  readonly others: Readonly<Record<string, string>>;
}

/**
 * The statement of a health check. It writes a row into each table, changes it and deletes it, as one
 * transaction, which commits: a server that is read-only or waits for a replica is noticed, and so are missing
 * rights and row level security.
 */
export function healthSql(schema: string, tables: readonly ProbedTable[]): string {
  const steps = tables.map(({ table, key, others }) => {
    const name = `${schema}.${table}`;
    const columns = Object.keys(others);
    const set = columns.map((column) => `${column} = excluded.${column}`).join(', ');
    const where = `WHERE ${key} = probe`;
    const orFail = `IF NOT FOUND THEN
    RAISE EXCEPTION 'call-webhooks: row level security hides rows of ${name} from the role %. Run ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY.', current_user;
  END IF;`;
    return `  INSERT INTO ${name} (${[key, ...columns].join(', ')}) VALUES (${['probe', ...Object.values(others)].join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${set};
  UPDATE ${name} SET ${columns.map((column) => `${column} = ${others[column] as string}`).join(', ')} ${where};
  ${orFail}
  DELETE FROM ${name} ${where};
  ${orFail}`;
  });
  return `DO $health$
DECLARE
  probe text := 'health ' || md5(random()::text || clock_timestamp()::text);
BEGIN
${steps.join('\n')}
END
$health$`;
}
