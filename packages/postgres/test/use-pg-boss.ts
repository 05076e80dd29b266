import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { QueuedDelivery } from '@call-webhooks/core';
import {
  collectingLogger,
  startPostgres,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import { type WorkerHandlers } from '@call-webhooks/store-tests';
import { PASSIVE, PgBoss } from './pg-boss-version.ts';
import { createPgBossWorker } from '../src/index.ts';
import type { DeadJobNote } from '../src/pg-boss-dead-jobs.ts';

interface JobRow {
  id: string;
  state: string;
  data: QueuedDelivery & { failure?: DeadJobNote };
  keep_until: Date;
}

/** A server of its own, and a pg-boss that does nothing by itself. */
export interface PgBossUnderTest {
  server: PostgresServer;
  boss: PgBoss;
}

/** @param options of pg-boss, besides. Call it in a suite. What `test` holds is filled in before its tests. */
export function usePgBoss(options: object = {}) {
  const test = {} as PgBossUnderTest;
  const toClose: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    test.server = await startPostgres();
    const connectionString = test.server.url;
    test.boss = new PgBoss({ connectionString, ...PASSIVE, ...options });
    test.boss.on('error', () => undefined);
    await test.boss.start();
  });
  afterAll(async () => {
    await test.boss.stop({ graceful: false, wait: true });
    await test.server.remove();
  });
  afterEach(async () => {
    for (const close of toClose.splice(0)) await close();
  });

  /** Starts a worker that is closed after the test. */
  function work(queue: string, handlers: WorkerHandlers, logger = collectingLogger()) {
    const worker = createPgBossWorker(test.boss, { queue, pollEvery: 20, logger, ...handlers });
    toClose.push(() => worker.close({ graceMs: 0 }));
    return worker;
  }

  /** The jobs of a queue, in the order in which they were made. A dead one has its `failure`. */
  async function jobs(queue: string) {
    const columns = 'id, state, data, keep_until';
    const { rows } = await test.boss
      .getDb()
      .executeSql(`SELECT ${columns} FROM pgboss.job WHERE name = $1 ORDER BY created_on`, [queue]);
    return (rows as JobRow[]).map(({ data: { failure, ...data }, ...job }) => ({
      ...job,
      data,
      failure,
    }));
  }

  return { test, work, jobs };
}
