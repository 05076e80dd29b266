import { afterEach, beforeEach } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import Database from 'libsql';
import {
  createSqliteWorker,
  sqliteQueue,
  type SqliteQueue,
  type SqliteWorker,
  type SqliteWorkerOptions,
} from '../src/index.ts';
import { freshFile } from './support.ts';

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

type Handle = (callId: string, attempt: number, signal: AbortSignal) => unknown;

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
  function work(handle: Handle, options: Partial<SqliteWorkerOptions> = {}): SqliteWorker {
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
  return { test, work };
}
