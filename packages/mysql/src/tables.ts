import { WebhookError } from '@call-webhooks/core';
import type { Connections } from './pool.ts';
import { ERROR, errorNumber, numberOf, textOf, type Row } from './pool.ts';
import { createProcedure, VERSION } from './procedure.ts';
import { procedures, tables, type Migration } from './schema.ts';

/** How often a call is made whose transaction the server ended because of a deadlock. */
const MOST_TRIES = 5;
/** How long a migration waits for another one; seconds. */
const MIGRATION_LOCK_S = 30;

/** What is known of tables. */
export interface Found {
  /** 0 if there are none. */
  readonly version: number;
  /** Tells these tables from those of the same name in another database. */
  readonly id: string;
  /** The database that has them. */
  readonly database: string;
}

/** A pool, and the tables and procedures in its database whose names begin with the prefix. */
export class Tables {
  readonly prefix: string;
  readonly #connections: Connections;
  #found: Found | undefined;

  constructor(connections: Connections, prefix: string) {
    this.#connections = connections;
    this.prefix = prefix;
  }

  /** What a procedure answers. @param within how long the caller waits; milliseconds */
  async call(name: string, values: Row, within?: number): Promise<Row[]> {
    const marks = values.map(() => '?').join(', ');
    for (let tries = 1; ; tries++)
      try {
        return await this.#connections.run(`CALL ${this.prefix}${name}(${marks})`, values, within);
      } catch (error) {
        const number = errorNumber(error);
        // It was rolled back. With groups two claims may each wait for the other one's event.
        if (number === ERROR.deadlock && tries < MOST_TRIES) continue;
        const { signal, noProcedure, otherParameters, noTable } = ERROR;
        if ([signal, noProcedure, otherParameters, noTable].some((one) => one === number)) {
          const { version } = await this.#connections.use((run) => this.#find(run));
          checkVersion(this.prefix, version);
          if (number === noProcedure)
            throw new Error(
              'A procedure of the store is missing, as after a dump without --routines. Run `await store.migrate()` once.',
              { cause: error },
            );
        }
        throw error;
      }
  }

  /** What a procedure answers with yes or no. */
  async yes(name: string, ...values: Row): Promise<boolean> {
    return this.number(name, values).then((number) => number === 1);
  }

  async number(name: string, values: Row): Promise<number> {
    const [row = []] = await this.call(name, values);
    return numberOf(row[0]);
  }

  /** Which tables these are. */
  async found(): Promise<Found> {
    this.#found ??= await this.#connections.use(async (run) => {
      const found = await this.#find(run);
      checkVersion(this.prefix, found.version);
      return found;
    });
    return this.#found;
  }

  migrate(): Promise<Migration> {
    return this.#connections.use((run) => this.#migrate(run), Infinity, true);
  }

  async #migrate(run: Run): Promise<Migration> {
    const { version: from } = await this.#find(run);
    const migration = { from, to: VERSION };
    if (from > VERSION) throw newer(this.prefix, from);
    if (from === VERSION && (await this.#isWhole(run))) return migration;
    const lock = `CONCAT('call-webhooks ', SHA1(CONCAT(DATABASE(), '.${this.prefix}')))`;
    const [[isLocked] = []] = await run(`SELECT GET_LOCK(${lock}, ${String(MIGRATION_LOCK_S)})`);
    if (numberOf(isLocked) !== 1)
      throw new Error(
        `Another migration of the tables ${this.prefix}… did not end within ${String(MIGRATION_LOCK_S)} s.`,
      );
    // A procedure keeps the mode it was created in: no text that is too long is cut off.
    await run(`SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1`);
    const { version } = await this.#find(run);
    if (version === VERSION && (await this.#isWhole(run))) return { from: version, to: VERSION };
    for (const { creation } of tables(this.prefix)) await run(creation);
    for (const procedure of procedures(this.prefix)) {
      await run(`DROP PROCEDURE IF EXISTS ${this.prefix}${procedure.name}`);
      await run(createProcedure(this.prefix, procedure));
    }
    await run(
      `INSERT INTO ${this.prefix}schema_version (only_row, version, id) VALUES (1, ${String(VERSION)}, UUID())
  ON DUPLICATE KEY UPDATE version = ${String(VERSION)}`,
    );
    return migration;
  }

  /** Whether each table and each procedure is there. */
  async #isWhole(run: Run): Promise<boolean> {
    const named = procedures(this.prefix).map(({ name }) => `'${this.prefix}${name}'`);
    const [[count] = []] = await run(
      `SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name IN (${named.join(', ')})`,
    );
    if (numberOf(count) !== named.length) return false;
    for (const { name } of tables(this.prefix)) if (await this.#isMissing(run, name)) return false;
    return true;
  }

  /** A table that this user may not read is there, as far as anybody can tell: `information_schema` does not show it. */
  async #isMissing(run: Run, name: string): Promise<boolean> {
    try {
      await run(`SELECT 1 FROM ${name} LIMIT 0`);
      return false;
    } catch (error) {
      const number = errorNumber(error);
      if (number !== ERROR.noTable && number !== ERROR.tableDenied) throw error;
      return number === ERROR.noTable;
    }
  }

  async #find(run: Run): Promise<Found> {
    const [[database] = []] = await run('SELECT DATABASE()');
    if (database === null)
      throw new WebhookError(
        'invalid-options',
        'The pool has no database. Name it in createPool({ database }), or in its URL.',
        { docs: 'stores.md#mysql-and-mariadb' },
      );
    const found = await this.#read(run, textOf(database));
    await run('COMMIT'); // where autocommit is off, the rows may be locked
    return found;
  }

  async #read(run: Run, database: string): Promise<Found> {
    try {
      const [[version = 0, id = ''] = []] = await run(
        `SELECT version, id FROM ${this.prefix}schema_version WHERE only_row = 1`,
      );
      return { version: numberOf(version), id: textOf(id), database };
    } catch (error) {
      if (errorNumber(error) !== ERROR.noTable) throw error;
      return { version: 0, id: '', database };
    }
  }
}

type Run = (sql: string, values?: Row) => Promise<Row[]>;

function checkVersion(prefix: string, version: number): void {
  if (version > VERSION) throw newer(prefix, version);
  if (version < VERSION)
    throw new Error('The tables of the store are missing. Run `await store.migrate()` once.');
}

const newer = (prefix: string, version: number) =>
  new WebhookError(
    'invalid-options',
    `The tables ${prefix}… have version ${String(version)}, which a newer release of @call-webhooks/mysql has created. This release knows version ${String(VERSION)}. Install the newer release here as well.`,
    { docs: 'stores.md#mysql-and-mariadb' },
  );
