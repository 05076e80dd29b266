import { setTimeout as delay } from 'node:timers/promises';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteQueue,
  sqliteStore,
} from '@call-webhooks/sqlite';
import Database from 'libsql';
import type { Effect, EffectTable } from '../effects.ts';
import { monotonicMs, type JobRenewalEntry } from '../journal.ts';
import { CONCURRENCY, LEASE_MS, QUEUE_ATTEMPTS, retryUntilSuccess, type Engine } from './engine.ts';

export const sqlite: Engine = {
  store: (file) => Promise.resolve(sqliteStore(new Database(file))),
  queue: (file) => Promise.resolve(sqliteQueue(new Database(file))),
  deadJobs(file) {
    return Promise.resolve(sqliteDeadJobs(sqliteQueue(new Database(file))));
  },
  startWorker(file, handlers) {
    createSqliteWorker(sqliteQueue(new Database(file)), {
      ...handlers,
      concurrency: CONCURRENCY,
      maxRuns: QUEUE_ATTEMPTS,
      leaseFor: LEASE_MS,
      backoff: { initialDelay: 100, maxDelay: 100 },
      pollEvery: 100,
    });
    return Promise.resolve();
  },
  state(file) {
    const db = new Database(file);
    const queue = sqliteQueue(db);
    const jobs = db.prepare(
      `SELECT id, state, due_at, token, attempt, crashes, is_last_run, abandon_reason, error, failures
       FROM call_webhooks_jobs WHERE event = 'event ' || ?`,
    );
    const events = db.prepare('SELECT * FROM call_webhooks_events WHERE key = ?');
    return Promise.resolve({
      stats: async () => ({ ...(await queue.stats()), now: Date.now() }),
      rows: (key) => Promise.resolve([...jobs.all(key), ...events.all(key)]),
    });
  },
  jobRenewals: sqliteJobRenewals,
  effects: sqliteEffects,
};

/** A trigger records them in the transaction that renews, with the wall clock's time. */
async function sqliteJobRenewals(file: string): Promise<{ read(): JobRenewalEntry[] }> {
  const db = new Database(file);
  const offset = monotonicMs() - Date.now();
  await retryUntilSuccess(() =>
    db.exec(`
      CREATE TABLE IF NOT EXISTS renewals (key TEXT, attempt INTEGER, at REAL);
      CREATE TRIGGER IF NOT EXISTS record_renewals AFTER UPDATE OF due_at ON call_webhooks_jobs
      WHEN old.token = new.token AND new.due_at > old.due_at BEGIN
        INSERT INTO renewals VALUES (
          substr(new.event, 7), new.attempt, (julianday('now') - 2440587.5) * 86400000
        );
      END`),
  );
  const all = db.prepare('SELECT key, attempt, at FROM renewals');
  return {
    read: () =>
      (all.all() as Pick<JobRenewalEntry, 'key' | 'attempt' | 'at'>[]).map((row) => {
        const at = row.at + offset;
        return { kind: 'job-renewed', ...row, at, until: at, held: true };
      }),
  };
}

/** How long a transaction waits for the file's lock; milliseconds. */
const WAIT_MS = 2_000;

/** Transactions on handles of their own, as users have them. */
async function sqliteEffects(file: string): Promise<EffectTable> {
  const reader = new Database(file);
  // The receivers start at the same moment, and the first of them has the file's lock.
  await retryUntilSuccess(() => {
    reader.exec('PRAGMA journal_mode = WAL');
    reader.exec(
      'CREATE TABLE IF NOT EXISTS effects (key TEXT, attempt INTEGER, pid INTEGER, at REAL)',
    );
  });
  const idle: InstanceType<typeof Database>[] = [];

  async function begin(): Promise<InstanceType<typeof Database>> {
    const db = idle.pop() ?? new Database(file);
    db.exec('PRAGMA synchronous = FULL');
    const until = performance.now() + WAIT_MS;
    for (;;) {
      try {
        db.exec('BEGIN IMMEDIATE');
        return db;
      } catch (error) {
        if (performance.now() > until) {
          idle.push(db);
          throw error;
        }
        await delay(5 + Math.random() * 10); // the lock is another's
      }
    }
  }

  return {
    async transact({ key, attempt, pid, at }, before) {
      const db = await begin();
      try {
        db.prepare('INSERT INTO effects VALUES (?, ?, ?, ?)').run(key, attempt, pid, at);
        await before(db);
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      } finally {
        idle.push(db);
      }
    },
    read: () => Promise.resolve(reader.prepare('SELECT * FROM effects').all() as Effect[]),
  };
}
