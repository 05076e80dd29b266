import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { collectingLogger, waitFor } from '@call-webhooks/contract-tests';
import { type Refusals } from '@call-webhooks/store-tests';
import type { QueuedDelivery } from '@call-webhooks/core';
import Database from 'libsql';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteQueue,
  type SqliteDatabase,
  type SqliteQueue,
  type SqliteWorker,
  type SqliteWorkerOptions,
} from '../src/index.ts';

export type Handle = SqliteDatabase & { close(): unknown };

/** A client that these tests run with. */
export interface Client {
  name: string;
  /** @param options of the client */
  open(file: string, options?: object): Handle;
}

type Constructor = new (file: string, options?: object) => Handle;

const require = createRequire(import.meta.url);
const CLIENTS: { name: string; load: () => Constructor; missing: string }[] = [
  { name: 'libsql', load: () => Database, missing: '' },
  {
    name: 'node:sqlite',
    load: () => (require('node:sqlite') as { DatabaseSync: Constructor }).DatabaseSync,
    missing: 'Node has it from 22.13 on',
  },
  {
    name: 'better-sqlite3',
    load: () => require('better-sqlite3') as Constructor,
    missing: 'npm install --no-save better-sqlite3@12; it is built or downloaded, so not by npm ci',
  },
];

/** The clients that can be loaded here, and why others can't. */
export const clients: Client[] = [];
export const missingClients: string[] = [];
for (const { name, load, missing } of CLIENTS) {
  try {
    const Loaded = load();
    new Loaded(':memory:').close(); // a binary for another Node fails here
    clients.push({ name, open: (file, options = {}) => new Loaded(file, options) });
  } catch {
    missingClients.push(`${name}: ${missing}`);
  }
}

/** The same tests on each client. `clients.test.ts` says which are missing. */
export function eachClient(tests: (client: Client) => void): void {
  for (const client of clients) tests(client);
}

/** A folder of its own, and the file in it. */
export function freshFile(): { file: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-sqlite-'));
  return {
    file: join(folder, 'calls.db'),
    remove: () => {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Ways in which what is written can be refused. */
export const refusalsOf = (handles: readonly SqliteDatabase[], file: string): Refusals => ({
  'a file that can only be read': async () => {
    for (const handle of handles) handle.exec('PRAGMA query_only = 1');
    return async () => handles.map((handle) => handle.exec('PRAGMA query_only = 0'));
  },
  'a file that was moved away': async () => {
    renameSync(file, `${file}.moved`);
    return async () => renameSync(`${file}.moved`, file);
  },
});

/** A handle on a file of its own, for each test. */
export function useFile() {
  const test = {} as { file: string; db: InstanceType<typeof Database> };
  let place: ReturnType<typeof freshFile>;
  beforeEach(() => {
    place = freshFile();
    Object.assign(test, { file: place.file, db: new Database(place.file) });
  });
  afterEach(() => {
    test.db.close();
    place.remove();
  });
  return test;
}

/** The deliveries of the dead jobs in a file, as they were enqueued. */
export const deadDeliveries = (db: SqliteDatabase): Promise<QueuedDelivery[]> =>
  Promise.resolve(
    (
      db
        .prepare(`SELECT delivery FROM call_webhooks_jobs WHERE state = 'dead' ORDER BY due_at, id`)
        .all() as { delivery: string }[]
    ).map(({ delivery }) => JSON.parse(delivery) as QueuedDelivery),
  );

/** A queue in a file of its own, and what its handlers ran. */
export interface QueueUnderTest {
  file: string;
  db: InstanceType<typeof Database>;
  queue: SqliteQueue;
  logger: ReturnType<typeof collectingLogger>;
  /** How far the queue's clock is ahead; milliseconds. */
  ahead: number;
  /** `callId attempt` of each run. */
  runs: string[];
}

type Handler = (callId: string, attempt: number, signal: AbortSignal) => unknown;

/** Call it in a `describe`. What `test` holds is made anew for each test. */
export function useQueue() {
  const test = {} as QueueUnderTest;
  let workers: SqliteWorker[] = [];
  let place: ReturnType<typeof freshFile>;
  beforeEach(() => {
    place = freshFile();
    const db = new Database(place.file);
    const queue = sqliteQueue(db, { now: () => Date.now() + test.ahead });
    const logger = collectingLogger();
    Object.assign(test, { file: place.file, db, queue, logger, ahead: 0, runs: [] });
  });
  afterEach(async () => {
    for (const worker of workers) await worker.close();
    workers = [];
    test.db.close();
    place.remove();
  });

  /** Starts a worker that is closed after the test. */
  function work(handle: Handler, options: Partial<SqliteWorkerOptions> = {}): SqliteWorker {
    const worker = createSqliteWorker(test.queue, {
      logger: test.logger,
      pollEvery: 10,
      on: {
        'call:completed': (event, { attempt, signal }) => {
          test.runs.push(`${String(event.callId)} ${String(attempt)}`);
          return handle(String(event.callId), attempt, signal);
        },
      },
      ...options,
    });
    workers.push(worker);
    return worker;
  }
  return {
    test,
    work,
    /** The dead jobs, and what is done to them. */
    deadJobs: () => sqliteDeadJobs(test.queue),
    isDead: () => waitFor(async () => (await test.queue.stats()).dead === 1),
  };
}
