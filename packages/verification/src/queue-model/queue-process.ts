import type { DeadLetter } from '@call-webhooks/core';
import {
  createSqliteWorker,
  sqliteQueue,
  type SqliteDatabase,
  type SqliteQueue,
  type SqliteWorker,
} from '@call-webhooks/sqlite';

export const MAX_ATTEMPTS = 3;
/** Milliseconds; the lease is renewed at each third. */
export const LEASE_MS = 60_000;
/** Milliseconds. */
export const POLL_MS = 10_000;
const REMEMBER_MS = 30 * 86_400_000;

/** What a process asks the scenario. */
export interface ProcessHooks {
  handle(process: QueueProcess, key: string, attempt: number): Promise<void>;
  sink(process: QueueProcess, letter: DeadLetter): void;
  /** A statement was run. */
  onStatement(): void;
}

export const keyOfCall = (callId: unknown) => `${String(callId)}:call:completed`;

/** A process with a queue and its worker, on a database that other processes share. */
export class QueueProcess {
  readonly queue: SqliteQueue;
  readonly #worker: SqliteWorker;
  #dead = false;
  /** By the monotonic clock: when `close()` gives back what still runs. */
  #releasesAt = Infinity;

  constructor(db: SqliteDatabase, hooks: ProcessHooks) {
    this.queue = sqliteQueue(this.#connect(db, hooks), { rememberFor: REMEMBER_MS });
    this.#worker = createSqliteWorker(this.queue, {
      concurrency: 2,
      maxAttempts: MAX_ATTEMPTS,
      leaseFor: LEASE_MS,
      pollEvery: POLL_MS,
      backoff: { initialDelay: 1_000, maxDelay: 8_000 },
      logger: { warn: () => undefined, error: () => undefined },
      on: {
        'call:completed': ({ callId }, { attempt }) =>
          hooks.handle(this, keyOfCall(callId), attempt),
      },
      deadLetter: (letter) => {
        hooks.sink(this, letter);
      },
    });
  }

  get state(): 'alive' | 'closing' | 'dead' {
    if (this.#dead) return 'dead';
    return this.#releasesAt === Infinity ? 'alive' : 'closing';
  }

  get hasReleased(): boolean {
    return !this.#dead && performance.now() >= this.#releasesAt;
  }

  /** The process dies: nothing that it does later reaches the database. */
  die(): void {
    this.#dead = true;
    void this.#worker.close({ graceMs: 0 }); // stops its timers
  }

  close(graceMs: number): Promise<void> {
    this.#releasesAt = performance.now() + graceMs;
    return this.#worker.close({ graceMs });
  }

  #connect(db: SqliteDatabase, hooks: ProcessHooks): SqliteDatabase {
    const reach = <T>(run: () => T): T => {
      if (this.#dead) throw new Error('The process is dead.');
      hooks.onStatement();
      return run();
    };
    return {
      exec: (sql) => reach(() => db.exec(sql)),
      prepare(sql) {
        const statement = db.prepare(sql);
        return {
          all: (...values: unknown[]) => reach(() => statement.all(...values)),
          get: (...values: unknown[]) => reach(() => statement.get(...values)),
          run: (...values: unknown[]) => reach(() => statement.run(...values)),
        };
      },
    };
  }
}
