import { setTimeout as delay } from 'node:timers/promises';
import { isBusy, type SqliteDatabase } from './database.ts';

/** How long a call waits for the locks of other processes; milliseconds, below a receiver's `storeTimeout`. */
const BUSY_FOR = 800;
/** How long SQLite itself may wait, and the process with it; milliseconds. */
const BLOCK_FOR = 5;
/**
 * After how many pages the log is written back to the file. In a large file each delivery changes
 * pages of its own, and SQLite's 1,000 would sync the file for every few batches (decision 16).
 */
const CHECKPOINT_PAGES = 4_000;
/** In KiB: the default of better-sqlite3. SQLite's own 2 MB is too small for a large index. */
const CACHE_KIB = 16_000;

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
  readonly #schema: string;
  #waiting: Waiting[] = [];
  #flushing = false;
  #prepared = false;

  /** @param schema statements that create what is missing, run before the first work */
  constructor(db: SqliteDatabase, schema: string) {
    this.#db = db;
    this.#schema = schema;
  }

  /** The work must be synchronous. Rejects with the client's error, and then nothing was changed. */
  run<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const until = performance.now() + BUSY_FOR;
      this.#waiting.push({ work, until, resolve, reject });
      if (this.#flushing) return;
      this.#flushing = true;
      setImmediate(() => void this.#flush());
    });
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
        else batch[0]?.reject(error);
      }
    }
    this.#flushing = false;
  }

  #transact(batch: Waiting[]): void {
    if (!this.#prepared) this.#prepare();
    this.#db.exec('BEGIN IMMEDIATE');
    let results: unknown[];
    try {
      results = batch.map(({ work }) => work());
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#rollBack();
      throw error;
    }
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as never);
  }

  #prepare(): void {
    this.#db.exec(`PRAGMA busy_timeout = ${String(BLOCK_FOR)}`);
    this.#db.exec('PRAGMA journal_mode = WAL');
    this.#db.exec('PRAGMA synchronous = FULL');
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${String(CHECKPOINT_PAGES)}`);
    this.#enlargeCache();
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      this.#db.exec(this.#schema);
      this.#db.exec('COMMIT');
    } catch (error) {
      this.#rollBack();
      throw error;
    }
    this.#prepared = true;
  }

  /** Leaves a larger cache as it is. */
  #enlargeCache(): void {
    const [setting] = this.#db
      .prepare(
        'SELECT cache_size AS size, page_size AS page FROM pragma_cache_size, pragma_page_size',
      )
      .all() as { size: number | bigint; page: number | bigint }[];
    const [size, page] = [Number(setting?.size), Number(setting?.page)];
    const kib = size < 0 ? -size : (size * page) / 1024; // pages, or KiB as a negative number
    if (!(kib >= CACHE_KIB)) this.#db.exec(`PRAGMA cache_size = -${String(CACHE_KIB)}`);
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
        else one.reject(error);
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
