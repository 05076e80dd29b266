import { randomUUID } from 'node:crypto';
import timers from 'node:timers/promises';
import { checkOptions } from '@call-webhooks/core/stores';
import {
  checkDatabase,
  integer,
  isBusy,
  isUnwritable,
  Statements,
  type SqliteDatabase,
} from './database.ts';
import { OpenFile } from './open-file.ts';

import {
  prefixRule,
  readSchema,
  SCHEMA_VERSION,
  upgrade,
  type Schema,
  type SqliteOptions,
} from './schema.ts';

// Kept here because the mocked timers of a user's tests replace them, and a delivery would never end.
const { setTimeout: delay } = timers;
const onImmediate = globalThis.setImmediate;

/** How long a call waits for the locks of other processes; milliseconds, below a receiver's `storeTimeout`. */
const BUSY_FOR = 800;
/** How long SQLite itself may wait, and the process with it; milliseconds. */
const BLOCK_FOR = 5;
/**
 * After how many pages the log is written back to the file. In a large file each delivery changes
 * pages of its own, and SQLite's 1,000 would sync the file for every few batches.
 */
const CHECKPOINT_PAGES = 4_000;
/** In KiB: the default of better-sqlite3. SQLite's own 2 MB is too small for a large index. */
const CACHE_KIB = 16_000;
/** What a health check writes: eight pages. */
const PROBE = ' '.repeat(32_768);

interface Waiting {
  work: () => unknown;
  until: number;
  resolve: (value: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs work in transactions that are on disk when their promises resolve: WAL, `synchronous = FULL`,
 * `BEGIN IMMEDIATE`. Calls of the same turn of the event loop share one transaction and one fsync.
 * Waiting for the lock of another process does not block this one. A call that fails fails alone.
 */
export class Transactions {
  readonly #db: SqliteDatabase;
  readonly #prefix: string;
  readonly #sql: Statements;
  readonly #file: OpenFile;
  #waiting: Waiting[] = [];
  #flushing = false;
  /** What the tables were before they were used first. */
  #before: Schema | undefined;

  constructor(db: SqliteDatabase, prefix: string) {
    this.#db = db;
    this.#prefix = prefix;
    this.#sql = new Statements(db);
    this.#file = new OpenFile(this.#sql);
  }

  /** The work must be synchronous. Rejects with the client's error, and then nothing was changed. */
  run<T>(work: (sql: Statements) => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const until = performance.now() + BUSY_FOR;
      this.#waiting.push({ work: () => work(this.#sql), until, resolve, reject });
      if (this.#flushing) return;
      this.#flushing = true;
      onImmediate(() => void this.#flush());
    });
  }

  /** @throws Error if the file of the handle was removed, moved or replaced */
  checkFile(): void {
    this.#file.check();
  }

  /**
   * Writes as much as a delivery may, and removes it again: two commits. Rejects where a delivery could not
   * be kept, such as on a full disk.
   */
  async probe(): Promise<void> {
    const cursors = `${this.#prefix}cursors`;
    const name = `health ${randomUUID()}`;
    await this.run((sql) =>
      sql.change(`INSERT INTO ${cursors} (name, cursor) VALUES (?, ?)`, name, PROBE),
    );
    await this.run((sql) => sql.change(`DELETE FROM ${cursors} WHERE name = ?`, name));
  }

  /** Creates or upgrades the tables. @returns what they were before */
  async prepare(): Promise<Schema> {
    return this.run(() => this.#prepare());
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        this.#transact(batch);
      } catch (error) {
        if (isBusy(error)) await this.#later(batch, error);
        else if (batch.length > 1) await this.#eachAlone(batch);
        else batch[0]?.reject(explained(error));
      }
    }
    this.#flushing = false;
  }

  #transact(batch: Waiting[]): void {
    this.#prepare();
    const results = this.#inTransaction(() => {
      this.#file.check();
      readSchema(this.#sql, this.#prefix); // another process may have upgraded it meanwhile
      return batch.map(({ work }) => work());
    });
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
  }

  #prepare(): Schema {
    if (this.#before) return this.#before;
    this.#file.check();
    let before: Schema;
    try {
      before = this.#setUp();
    } catch (error) {
      this.#file.checkAfter(error);
      throw error;
    }
    this.#file.checkIsThere();
    return (this.#before = before);
  }

  #setUp(): Schema {
    this.#db.exec(`PRAGMA busy_timeout = ${String(BLOCK_FOR)}`);
    this.#db.exec('PRAGMA journal_mode = WAL');
    this.#db.exec('PRAGMA synchronous = FULL');
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${String(CHECKPOINT_PAGES)}`);
    this.#enlargeCache();
    return this.#inTransaction(() => upgrade(this.#db, this.#prefix));
  }

  /** Leaves a larger cache as it is. */
  #enlargeCache(): void {
    const setting =
      this.#sql.first(
        'SELECT cache_size AS size, page_size AS page FROM pragma_cache_size, pragma_page_size',
      ) ?? {};
    const [size, page] = [integer(setting, 'size'), integer(setting, 'page')];
    const kib = size < 0 ? -size : (size * page) / 1024; // pages, or KiB as a negative number
    if (kib < CACHE_KIB) this.#db.exec(`PRAGMA cache_size = -${String(CACHE_KIB)}`);
  }

  #inTransaction<T>(work: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  #rollBack(): void {
    try {
      this.#db.exec('ROLLBACK');
    } catch {
      // SQLite did it already: a full disk ends the transaction
    }
  }

  /** One call of the batch failed, and it was rolled back: the others must not fail with it. */
  async #eachAlone(batch: Waiting[]): Promise<void> {
    for (const one of batch)
      try {
        this.#transact([one]);
      } catch (error) {
        if (isBusy(error)) await this.#later([one], error);
        else one.reject(explained(error));
      }
  }

  /** Rejects what has waited long enough. The rest waits on, together with what came meanwhile. */
  async #later(batch: Waiting[], error: unknown): Promise<void> {
    const now = performance.now();
    for (const { until, reject } of batch) if (until <= now) reject(error);
    this.#waiting = [...batch.filter(({ until }) => until > now), ...this.#waiting];
    await delay(5 + Math.random() * 10);
  }
}

/** SQLite says neither which file it can't write, nor that it writes into the folder as well. */
function explained(error: unknown): unknown {
  if (!isUnwritable(error)) return error;
  return new Error(
    "The SQLite file can't be written: the file or its folder is read-only for this process, the folder is missing, or the handle was opened as read-only. Give this user the right to write the file and its folder, where SQLite keeps two more files (-wal and -shm).",
    { cause: error },
  );
}

/** What `migrate` found and did. */
export interface SqliteMigration {
  /** The version that the tables had; 0 if there were none. */
  from: number;
  /** The version that the tables have now. */
  to: number;
}

/**
 * Creates the tables of the store, the queue and the dead letters, or upgrades those of an older
 * version. Each of them does this when it is first used; call `migrate` to do it earlier, for example
 * during a deployment. It is safe at every start, and in several processes at once. It rejects with the
 * client's error.
 * @param options.prefix `call_webhooks_` by default
 * @throws WebhookError `invalid-options`
 * @example
 * const { from, to } = await migrate(new Database('calls.db'));
 */
export async function migrate(
  db: SqliteDatabase,
  options: Pick<SqliteOptions, 'prefix'> = {},
): Promise<SqliteMigration> {
  const { prefix } = checkOptions('migrate', { prefix: prefixRule() }, options);
  checkDatabase('migrate', db);
  const { version } = await new Transactions(db, prefix).prepare();
  return { from: version, to: SCHEMA_VERSION };
}
