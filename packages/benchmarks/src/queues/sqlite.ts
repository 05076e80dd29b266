import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'libsql';
import { importPackage } from '../checkout.ts';
import { CONCURRENCY, type Backend } from './backend.ts';

type Db = InstanceType<typeof Database>;

/** Our queue in one file, and a table of jobs in another; both in WAL mode, each commit on disk. */
export async function openSqlite(root: string): Promise<Backend> {
  const { sqliteQueue, createSqliteWorker } = await importPackage<
    typeof import('@call-webhooks/sqlite')
  >(root, 'sqlite');
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-bench-'));
  const [db, bare] = ['queue.db', 'bare.db'].map((file) => new Database(join(folder, file))) as [
    Db,
    Db,
  ];
  const queue = sqliteQueue(db);
  await queue.ping(); // creates its table
  bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  bare.exec('CREATE TABLE jobs (id INTEGER PRIMARY KEY, done INTEGER NOT NULL, delivery TEXT)');
  bare.exec('CREATE INDEX jobs_open ON jobs (id) WHERE done = 0');
  const insert = bare.prepare('INSERT INTO jobs (done, delivery) VALUES (0, ?)');
  const open = bare.prepare('SELECT count(*) AS open FROM jobs WHERE done = 0');

  return {
    queue,
    addBare: (delivery) => Promise.resolve(insert.run(JSON.stringify(delivery))),
    startWorker: (which, onRun) =>
      which === 'ours'
        ? createSqliteWorker(queue, {
            concurrency: CONCURRENCY,
            on: { 'call:completed': onRun },
          })
        : startBare(bare, onRun),
    async openJobs(which) {
      if (which === 'bare') return (open.get() as { open: number }).open;
      const { waiting, delayed, running } = await queue.stats();
      return waiting + delayed + running;
    },
    clear() {
      db.exec('DELETE FROM call_webhooks_jobs');
      bare.exec('DELETE FROM jobs');
      return Promise.resolve();
    },
    stop() {
      for (const handle of [db, bare]) handle.close();
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

/** One SELECT and one UPDATE for each job. */
function startBare(db: Db, onRun: () => void) {
  const next = db.prepare('SELECT id, delivery FROM jobs WHERE done = 0 ORDER BY id LIMIT 1');
  const done = db.prepare('UPDATE jobs SET done = 1, delivery = NULL WHERE id = ?');
  let closed = false;
  async function loop(): Promise<void> {
    while (!closed) {
      const job = next.get() as { id: number; delivery: string } | undefined;
      if (job) {
        JSON.parse(job.delivery);
        onRun();
        done.run(job.id);
      } else await delay(10);
    }
  }
  const running = loop();
  return {
    close() {
      closed = true;
      return running;
    },
  };
}
