import { checkOptions, docsUrl, option } from '@call-webhooks/core/internal';
import { WebhookError } from '@call-webhooks/core';
import {
  answerOf,
  oddAnswer,
  preparing,
  sqlState,
  yesOrNo,
  type PostgresClient,
} from './client.ts';

/** The version of the tables below. A release that changes one of them raises it. */
const VERSION = 2;
/** Version 1 has no outcome log. All but that works without it. */
const OLDEST_VERSION = 1;
export const UNDEFINED_TABLE = '42P01';

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
  /** Their version now. */
  readonly to: number;
}

/** The tables of a schema. Before its first statement it makes sure that this release knows them. */
export class Tables {
  readonly #client: PostgresClient;
  readonly #prepared: PostgresClient;
  readonly #schema: string;
  /** Tells these tables from those of the same name in another database; known after the first statement. */
  id: string | undefined;

  constructor(client: PostgresClient, schema: string) {
    this.#client = client;
    this.#prepared = preparing(client);
    this.#schema = schema;
  }

  /** What a statement answers. */
  async ask(text: string, ...values: unknown[]): Promise<unknown> {
    if (this.id === undefined) await this.#check();
    return answerOf(this.#prepared, text, values);
  }

  /** The same without a prepared statement, for one whose plan depends on how large the tables are. */
  async askUnprepared(text: string, ...values: unknown[]): Promise<unknown> {
    if (this.id === undefined) await this.#check();
    return answerOf(this.#client, text, values);
  }

  /** What a statement answers with yes or no. */
  async askIf(text: string, ...values: unknown[]): Promise<boolean> {
    return yesOrNo(await this.ask(text, ...values));
  }

  async migrate(): Promise<Migration> {
    const { version: from } = await this.#found();
    if (from <= VERSION) await this.#client.query(migrationSql({ schema: this.#schema }));
    await this.#check();
    return { from, to: VERSION };
  }

  async #check(): Promise<void> {
    const { version, id } = await this.#found();
    if (version > VERSION)
      throw new WebhookError(
        'invalid-options',
        `The tables in the schema ${this.#schema} have version ${String(version)}, of a newer release of @call-webhooks/postgres. This one knows version ${String(VERSION)}: install the newer release here, too.`,
        { docs: docsUrl('stores.md#postgres') },
      );
    if (version < OLDEST_VERSION)
      throw new Error('The tables of the store are missing. Run `await store.migrate()` once.');
    this.id = id;
  }

  async #found(): Promise<{ version: number; id?: string }> {
    const text = `SELECT json_build_object('version', version, 'id', id)::text AS answer FROM ${this.#schema}.schema_version`;
    try {
      const answer = await answerOf(this.#client, text, []);
      const { version, id } = Object(answer) as { version?: unknown; id?: unknown };
      if (!Number.isInteger(version) || typeof id !== 'string') throw oddAnswer();
      return { version: Number(version), id };
    } catch (error) {
      if (sqlState(error) === UNDEFINED_TABLE) return { version: 0 };
      throw error;
    }
  }
}

/**
 * The statement that `migrate()` runs, for migrations that you keep in files. It creates the schema
 * and its tables if they are missing, and changes nothing otherwise.
 *
 * It is one statement, so it is atomic with every client, and it takes a lock, so several machines may
 * run it at once. A role without CREATE can run it when everything exists.
 * @param options.schema `call_webhooks` by default
 * @throws WebhookError `invalid-options` for a name that would need quotes
 * @example
 * writeFileSync('migrations/001-call-webhooks.sql', migrationSql());
 */
export function migrationSql(options: { schema?: string | undefined } = {}): string {
  const { schema: name } = checkOptions('migrationSql', { schema: schemaOption() }, options);
  return `DO $migration$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('call-webhooks migrate'), hashtext('${name}'));
  IF to_regnamespace('${name}') IS NULL THEN
    CREATE SCHEMA ${name};
  END IF;
  IF to_regclass('${name}.webhook_ids') IS NULL THEN
    CREATE TABLE ${name}.webhook_ids (
      id text COLLATE "C" PRIMARY KEY,
      token text NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX webhook_ids_keep_until ON ${name}.webhook_ids (keep_until);
  END IF;
  IF to_regclass('${name}.events') IS NULL THEN
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
  IF to_regclass('${name}.groups') IS NULL THEN
    CREATE TABLE ${name}.groups (
      id text COLLATE "C" PRIMARY KEY,
      key text COLLATE "C" NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX groups_keep_until ON ${name}.groups (keep_until);
  END IF;
  IF to_regclass('${name}.cursors') IS NULL THEN
    CREATE TABLE ${name}.cursors (
      name text COLLATE "C" PRIMARY KEY,
      cursor text NOT NULL
    );
  END IF;
  IF to_regclass('${name}.dead_letters') IS NULL THEN
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
  IF to_regclass('${name}.log_batches') IS NULL THEN
    CREATE TABLE ${name}.log_batches (
      n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text COLLATE "C" NOT NULL UNIQUE,
      rows text NOT NULL
    );
    CREATE TABLE ${name}.log_counts (
      minute bigint NOT NULL,
      name text COLLATE "C" NOT NULL,
      count bigint NOT NULL,
      PRIMARY KEY (minute, name)
    ) WITH (fillfactor = 80);
    CREATE TABLE ${name}.log_processes (
      id text COLLATE "C" PRIMARY KEY,
      process text NOT NULL,
      seen_at timestamptz NOT NULL
    ) WITH (fillfactor = 80);
  END IF;
  IF to_regclass('${name}.schema_version') IS NULL THEN
    -- One row, whose random id tells these tables from those of the same name in another database.
    CREATE TABLE ${name}.schema_version (
      version integer NOT NULL,
      id text NOT NULL
    );
    INSERT INTO ${name}.schema_version
      VALUES (${String(VERSION)}, md5(random()::text || clock_timestamp()::text));
  ELSIF (SELECT version FROM ${name}.schema_version) < ${String(VERSION)} THEN
    UPDATE ${name}.schema_version SET version = ${String(VERSION)};
  END IF;
END
$migration$`;
}
