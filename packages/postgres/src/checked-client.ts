import { WebhookError } from '@call-webhooks/core';
import {
  answerOf,
  NO_TEXT,
  oddAnswer,
  preparing,
  sqlState,
  yesOrNo,
  type PostgresClient,
} from './client.ts';
import { healthSql, migrationSql, VERSION, type Migration, type ProbedTable } from './schema.ts';

const UNDEFINED_TABLE = '42P01';
const INVALID_TEXT = '22P02';
/** Two processes created the same schema, table or row at once: what both wanted is there then. */
const CREATED_TWICE = ['42P06', '42P07', '42710', '23505'];
const MIGRATION_TRIES = 5;

/** What is known of the tables of a schema. */
interface Found {
  /** 0 if there are none. */
  readonly version: number;
  readonly id?: string;
}

/**
 * A client, and the tables of a schema. It runs no statement on tables that this release does not know:
 * it asks for their version before the first one, and each statement fails if a newer release has migrated
 * them since.
 */
export class CheckedClient {
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
  run(text: string, ...values: unknown[]): Promise<unknown> {
    return this.#run(this.#prepared, text, values);
  }

  /** The same without a prepared statement, for one whose plan depends on how large the tables are. */
  runUnprepared(text: string, ...values: unknown[]): Promise<unknown> {
    return this.#run(this.#client, text, values);
  }

  /** What a statement answers with yes or no. */
  async runIf(text: string, ...values: unknown[]): Promise<boolean> {
    return yesOrNo(await this.run(text, ...values));
  }

  /** Writes a row into these tables, changes it and removes it: one statement, so nobody sees it. */
  async probe(tables: readonly ProbedTable[]): Promise<void> {
    await this.#check();
    await this.#client.query(healthSql(this.#schema, tables));
  }

  async migrate(): Promise<Migration> {
    const { version: from } = await this.#found();
    if (from <= VERSION) await this.#create();
    await this.#check();
    return { from, to: VERSION };
  }

  async #create(tries = MIGRATION_TRIES): Promise<void> {
    try {
      await this.#client.query(migrationSql({ schema: this.#schema }));
    } catch (error) {
      // Under REPEATABLE READ, the statement may not see what another process has created.
      if (tries <= 1 || !CREATED_TWICE.includes(sqlState(error) ?? '')) throw error;
      await this.#create(tries - 1);
    }
  }

  async #run(client: PostgresClient, text: string, values: unknown[]): Promise<unknown> {
    if (this.id === undefined) await this.#check();
    try {
      return await answerOf(client, text, values);
    } catch (error) {
      const isOfTables =
        sqlState(error) === INVALID_TEXT || (Object(error) as Partial<Error>).message === NO_TEXT;
      if (isOfTables) await this.#check();
      throw error;
    }
  }

  async #check(): Promise<void> {
    const { version, id } = await this.#found();
    if (version > VERSION)
      throw new WebhookError(
        'invalid-options',
        `The tables in the schema ${this.#schema} have version ${String(version)}, which a newer release of @call-webhooks/postgres has created. This release knows version ${String(VERSION)}. Install the newer release here as well.`,
        { docs: 'stores.md#postgres' },
      );
    if (version < 1)
      throw new Error('The tables of the store are missing. Run `await store.migrate()` once.');
    this.id = id;
  }

  /** @throws WebhookError `invalid-options` for a database that can't keep every text */
  async #found(): Promise<Found> {
    const table = `${this.#schema}.schema_version`;
    const encoding = `getdatabaseencoding()`;
    const text = `SELECT json_build_object('version', (SELECT version FROM ${table}), 'id', (SELECT id FROM ${table}), 'encoding', ${encoding})::text AS answer`;
    try {
      const answer = await answerOf(this.#client, text, []);
      const found = Object(answer) as Record<string, unknown>;
      checkEncoding(found['encoding']);
      if (found['version'] === null) throw hiddenRow(table);
      if (!Number.isInteger(found['version']) || typeof found['id'] !== 'string') throw oddAnswer();
      return { version: Number(found['version']), id: found['id'] };
    } catch (error) {
      if (sqlState(error) !== UNDEFINED_TABLE) throw error;
      const other = `SELECT json_build_object('encoding', ${encoding})::text AS answer`;
      const answer = Object(await answerOf(this.#client, other, [])) as { encoding?: unknown };
      checkEncoding(answer.encoding);
      return { version: 0 };
    }
  }
}

/** @throws WebhookError `invalid-options` for a database that can't keep every text */
export function checkEncoding(encoding: unknown): void {
  if (encoding === 'UTF8') return;
  if (typeof encoding !== 'string') throw oddAnswer();
  throw new WebhookError(
    'invalid-options',
    `The database has the encoding ${encoding}, which can't keep every text of a delivery. Use a database with the encoding UTF8: CREATE DATABASE webhooks ENCODING 'UTF8' TEMPLATE template0.`,
    { docs: 'stores.md#postgres' },
  );
}

const hiddenRow = (table: string) =>
  new Error(
    `The table ${table} has no row that this role can see. Row level security may hide it: run ALTER TABLE ${table} DISABLE ROW LEVEL SECURITY, and the same for the other tables of the schema. If the table was emptied, drop the schema and run \`await store.migrate()\` again.`,
  );
