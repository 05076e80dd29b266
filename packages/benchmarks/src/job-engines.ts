import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, QueuedDelivery } from '@call-webhooks/core';
import { Queue as BullQueue, Worker } from 'bullmq';
import Libsql from 'libsql';
import PgBoss from 'pg-boss';
import { importPackage } from './checkout.ts';
import type { ServerName } from './servers.ts';

/** Our queue and worker, or the bare ones of the engine: the floor. Each of the two has its own jobs. */
export type Which = 'ours' | 'bare';

interface Closable {
  close(): Promise<unknown>;
}

export interface Engine {
  readonly queue: Queue;
  /** Adds a job; with one bare call, as durable as ours. */
  add(which: Which, delivery: QueuedDelivery): Promise<unknown>;
  /** Starts a worker, which calls `onRun` for each job. */
  startWorker(which: Which, onRun: () => void): Closable;
  /** How many jobs are not done. */
  openJobs(which: Which): Promise<number>;
  /** Removes all jobs of both. */
  clear(): Promise<unknown>;
  close(): Promise<unknown>;
}

export type EngineName = 'bullmq' | 'pg-boss' | 'sqlite';
export const SERVERS: Record<EngineName, ServerName> = {
  bullmq: 'redis',
  'pg-boss': 'postgres',
  sqlite: 'sqlite',
};
export const OPEN: Record<EngineName, (root: string, place: string) => Promise<Engine>> = {
  bullmq: openBullmq,
  'pg-boss': openPgBoss,
  sqlite: openSqlite,
};

/** How many jobs a worker runs at once. */
const CONCURRENCY = 16;

async function openBullmq(root: string, place: string): Promise<Engine> {
  const { bullmqQueue, createBullmqWorker } = await importPackage(root, 'redis');
  const connection = { host: '127.0.0.1', port: Number(place) };
  const queues = {
    ours: new BullQueue('ours', { connection }),
    bare: new BullQueue('bare', { connection }),
  };
  const queue = bullmqQueue(queues.ours);
  return {
    queue,
    add: (which, delivery) =>
      which === 'ours' ? queue.enqueue(delivery) : queues.bare.add('call:completed', delivery),
    startWorker(which, onRun) {
      const shared = { connection, concurrency: CONCURRENCY };
      if (which === 'ours')
        return createBullmqWorker({
          ...{ Worker, queueName: 'ours', ...shared },
          on: { 'call:completed': onRun },
        });
      const run = () => {
        onRun();
        return Promise.resolve();
      };
      return new Worker('bare', run, shared);
    },
    openJobs: (which) => queues[which].getJobCountByTypes('waiting', 'active', 'delayed'),
    async clear() {
      for (const each of Object.values(queues)) {
        await each.drain(true);
        await each.clean(0, 0, 'completed');
      }
    },
    close: () => Promise.all(Object.values(queues).map((each) => each.close())),
  };
}

async function openPgBoss(root: string, place: string): Promise<Engine> {
  const { pgBossQueue, createPgBossWorker } = await importPackage(root, 'postgres');
  const boss = new PgBoss({
    ...{ host: '127.0.0.1', port: Number(place), user: 'postgres', database: 'postgres' },
    ...{ max: 16, supervise: false, schedule: false },
  });
  boss.on('error', () => undefined); // the server may stop before the last connection has ended
  await boss.start();
  const queue = pgBossQueue(boss);
  await queue.migrate();
  await boss.createQueue('bare');
  const names = { ours: 'call-webhooks', bare: 'bare' };
  return {
    queue,
    add: (which, delivery) =>
      which === 'ours' ? queue.enqueue(delivery) : boss.send(names.bare, delivery),
    startWorker(which, onRun) {
      if (which === 'ours')
        return createPgBossWorker(boss, {
          concurrency: CONCURRENCY,
          on: { 'call:completed': onRun },
        });
      // Completes each job on its own, since each could fail on its own.
      return loop(async () => {
        const jobs = await boss.fetch(names.bare, { batchSize: CONCURRENCY, priority: false });
        const run = ({ id }: { id: string }) => {
          onRun();
          return boss.complete(names.bare, id);
        };
        await Promise.all(jobs.map(run));
        return jobs.length > 0;
      });
    },
    async openJobs(which) {
      const text = `SELECT count(*)::int AS open FROM pgboss.job WHERE name = $1 AND state < 'completed'`;
      const answer: unknown = await boss.getDb().executeSql(text, [names[which]]);
      return (answer as { rows: [{ open: number }] }).rows[0].open;
    },
    clear: () => boss.clearStorage(),
    close: () => boss.stop({ graceful: false }),
  };
}

/** Our queue in one file, and a table of jobs in another; both in WAL mode, each commit on disk. */
async function openSqlite(root: string, place: string): Promise<Engine> {
  const { sqliteQueue, createSqliteWorker } = await importPackage(root, 'sqlite');
  const db = new Libsql(join(place, 'queue.db'));
  const queue = sqliteQueue(db);
  await queue.ping(); // creates its table
  const bare = new Libsql(join(place, 'bare.db'));
  bare.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  bare.exec('CREATE TABLE jobs (id INTEGER PRIMARY KEY, done INTEGER NOT NULL, delivery TEXT)');
  bare.exec('CREATE INDEX jobs_open ON jobs (id) WHERE done = 0');
  const insert = bare.prepare('INSERT INTO jobs (done, delivery) VALUES (0, ?)');
  const open = bare.prepare('SELECT count(*) AS open FROM jobs WHERE done = 0');
  const next = bare.prepare('SELECT id, delivery FROM jobs WHERE done = 0 ORDER BY id LIMIT 1');
  const done = bare.prepare('UPDATE jobs SET done = 1, delivery = NULL WHERE id = ?');
  return {
    queue,
    add: (which, delivery) =>
      which === 'ours'
        ? queue.enqueue(delivery)
        : Promise.resolve(insert.run(JSON.stringify(delivery))),
    startWorker(which, onRun) {
      if (which === 'ours')
        return createSqliteWorker(queue, {
          concurrency: CONCURRENCY,
          on: { 'call:completed': onRun },
        });
      return loop(() => {
        const job = next.get() as { id: number; delivery: string } | undefined;
        if (!job) return false;
        JSON.parse(job.delivery);
        onRun();
        done.run(job.id);
        return true;
      });
    },
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
    close() {
      for (const handle of [db, bare]) handle.close();
      return Promise.resolve();
    },
  };
}

/** A bare worker: it looks again at once after a job, and soon when there was none. */
function loop(once: () => Promise<boolean> | boolean): Closable {
  let closed = false;
  async function run(): Promise<void> {
    while (!closed) if (!(await once())) await delay(10);
  }
  const running = run();
  return {
    close() {
      closed = true;
      return running;
    },
  };
}
