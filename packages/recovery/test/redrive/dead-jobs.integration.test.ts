import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import type { Queue, WorkerOptions } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import {
  collectingLogger,
  describeWithProgram,
  postgresBinaries,
  queuedCall,
  redisServer,
  startPostgres,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import { createPgBossWorker, pgBossDeadJobs, pgBossQueue } from '@call-webhooks/postgres';
import { bullmqDeadJobs, bullmqQueue, createBullmqWorker } from '@call-webhooks/redis';
import { createSqliteWorker, sqliteDeadJobs, sqliteQueue } from '@call-webhooks/sqlite';
import { Queue as BullmqQueue, Worker } from 'bullmq';
import Database from 'libsql';
import PgBoss from 'pg-boss';
import { redrive } from '../../src/index.ts';

const JOBS = 50;
const POISON = 10;
const logger = collectingLogger();
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Engine {
  queue: Queue;
  deadJobs: DeadJobs;
  startWorker(on: WorkerOptions['on']): { close(): Promise<void> };
}

/** After a fix, two operators redrive everything that a queue has given up. */
async function proof({ queue, deadJobs, startWorker }: Engine): Promise<void> {
  const runs: string[] = [];
  let isFixed = false;
  const calls = Array.from({ length: JOBS }, (_none, at) =>
    unique(at < POISON ? 'poison-call' : 'call'),
  );
  const isPoison = (callId: string) => callId.startsWith('poison');
  const worker = startWorker({
    'call:completed': ({ callId }) => {
      runs.push(String(callId));
      if (!isFixed || isPoison(String(callId))) throw new Error('the CRM is down');
    },
  });
  closing.push(() => worker.close());
  for (const callId of calls) await queue.enqueue(queuedCall(callId));
  await waitFor(async () => (await deadJobs.count()) === JOBS, { within: 30_000 });

  isFixed = true;
  runs.length = 0;
  const results = await Promise.all([redrive({ deadJobs }), redrive({ deadJobs })]);
  const queued = results.reduce((sum, result) => sum + result.queued, 0);
  expect(queued).toBeGreaterThanOrEqual(JOBS);
  await waitFor(() => new Set(runs).size === JOBS, { within: 30_000 });
  await waitFor(async () => (await deadJobs.count()) === POISON, { within: 30_000 });
  const healthy = calls.filter((callId) => !isPoison(callId));
  expect(runs.filter((callId) => !isPoison(callId)).sort()).toEqual(healthy.sort());
  const { letters } = await deadJobs.list();
  expect(letters.every(({ callId = '' }) => isPoison(callId))).toBe(true);
  expect(letters.every(({ attempt }) => attempt >= 2)).toBe(true);

  const [one] = letters;
  expect(await redrive({ deadJobs, id: one!.id })).toMatchObject({ queued: 1 });
  const filter = { eventName: 'call:started' };
  expect(await redrive({ deadJobs, filter })).toMatchObject({ queued: 0 });
}

it('SQLite: after a fix, the dead jobs of a queue are run once by two operators', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-dead-jobs-'));
  closing.push(() => {
    rmSync(folder, { recursive: true });
  });
  const db = new Database(join(folder, 'calls.db'));
  closing.push(() => db.close());
  const queue = sqliteQueue(db);
  const startWorker: Engine['startWorker'] = (on) =>
    createSqliteWorker(queue, { on, logger, maxRuns: 1, pollEvery: 10 });
  await proof({ queue, startWorker, deadJobs: sqliteDeadJobs(queue) });
}, 60_000);

describeWithProgram('redis-server', 'BullMQ', () => {
  it('after a fix, the dead jobs of a queue are run once by two operators', async () => {
    const server = await redisServer();
    await server.start();
    closing.push(() => server.stop());
    const connection = { host: '127.0.0.1', port: server.port };
    const queue = new BullmqQueue('calls', { connection });
    closing.push(() => queue.close());
    await proof({
      queue: bullmqQueue(queue, { maxRuns: 1, logger }),
      startWorker: (on) =>
        createBullmqWorker({ Worker, queueName: 'calls', connection, on, logger }),
      deadJobs: bullmqDeadJobs(queue),
    });
  }, 60_000);
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'pg-boss',
  () => {
    it('after a fix, the dead jobs of a queue are run once by two operators', async () => {
      const server = await startPostgres();
      closing.push(() => server.remove());
      const boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
      boss.on('error', () => undefined);
      await boss.start();
      closing.push(() => boss.stop({ graceful: false, wait: true }));
      await proof({
        queue: pgBossQueue(boss, { maxRuns: 1 }),
        startWorker: (on) => createPgBossWorker(boss, { on, logger, pollEvery: 20 }),
        deadJobs: pgBossDeadJobs(boss),
      });
    }, 60_000);
  },
);
