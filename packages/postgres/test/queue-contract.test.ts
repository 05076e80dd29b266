import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { QueuedDelivery } from '@call-webhooks/core';
import {
  collectingLogger,
  deferred,
  queueContractTests,
  queuedCall,
  startPostgres,
  waitFor,
  type PostgresServer,
} from '@call-webhooks/contract-tests';
import PgBoss from 'pg-boss';
import { createPgBossWorker, pgBossQueue } from '../src/index.ts';
import { withPostgres } from './support.ts';

withPostgres('pgBossQueue', () => {
  let server: PostgresServer;
  let boss: PgBoss;
  let count = 0;
  beforeAll(async () => {
    server = await startPostgres();
    boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    await boss.start();
  }, 30_000);
  afterAll(async () => {
    await boss.stop({ graceful: false, wait: true });
    await server.remove();
  });

  queueContractTests({
    name: 'pgBossQueue',
    async open({ maxAttempts, concurrency }) {
      const name = `calls-${String(++count)}`;
      const queue = pgBossQueue(boss, { queue: name, maxAttempts, backoff: { initialDelay: 0 } });
      await queue.migrate();
      return {
        queue,
        startWorker: (handlers) =>
          Promise.resolve(
            createPgBossWorker(boss, { ...handlers, queue: name, concurrency, pollEvery: 20 }),
          ),
        async deadLetters() {
          const { rows } = await boss
            .getDb()
            .executeSql('SELECT data FROM pgboss.job WHERE name = $1', [`${name}-dead`]);
          return (rows as { data: QueuedDelivery }[]).map(({ data }) => data);
        },
        close: () => Promise.resolve(),
      };
    },
  });

  it('never takes a missing queue for a duplicate', async () => {
    const queue = pgBossQueue(boss, { queue: 'gone' });
    await queue.enqueue(queuedCall('call-1'));
    await queue.enqueue(queuedCall('call-1'));
    await boss.clearStorage();
    await boss.deleteQueue('gone');
    await expect(queue.enqueue(queuedCall('call-2'))).rejects.toThrow('no job');
    await expect(queue.enqueue(queuedCall('call-2'))).resolves.toBeUndefined(); // made again
  });

  it('makes its queues from several machines at once', async () => {
    const queues = [1, 2, 3].map(() => pgBossQueue(boss, { queue: 'raced' }));
    await Promise.all(queues.map((queue) => queue.migrate()));
    expect(await boss.getQueue('raced-dead')).not.toBeNull();
  }, 20_000);

  it('runs the job of a worker that died again, under a higher attempt', async () => {
    const queue = pgBossQueue(boss, {
      queue: 'died',
      expireIn: 1_000,
      backoff: { initialDelay: 0 },
    });
    await queue.enqueue(queuedCall('call-1'));
    expect(await boss.fetch('died')).toHaveLength(1); // and never settled
    const attempts: number[] = [];
    const worker = createPgBossWorker(boss, {
      queue: 'died',
      pollEvery: 20,
      on: { 'call:completed': (_event, { attempt }) => void attempts.push(attempt) },
    });
    await waitFor(async () => {
      await boss.expire(); // what pg-boss does by itself every few minutes
      return attempts.length > 0;
    });
    await worker.close();
    expect(attempts).toEqual([2]);
  });

  it('settles what it ran when Postgres was killed, once that is back; runs nothing twice, and takes new jobs', async () => {
    const queue = pgBossQueue(boss, { queue: 'outage' });
    await queue.migrate();
    const started = deferred();
    const go = deferred();
    const runs: string[] = [];
    const { lines, ...logger } = collectingLogger();
    const worker = createPgBossWorker(boss, {
      queue: 'outage',
      pollEvery: 50,
      logger,
      on: {
        'call:completed': async ({ callId }) => {
          runs.push(String(callId));
          started.resolve();
          await go.promise;
        },
      },
    });
    await queue.enqueue(queuedCall('call-1'));
    await started.promise;
    await server.kill();
    go.resolve();
    await expect(queue.enqueue(queuedCall('call-2'))).rejects.toThrow();
    await expect(queue.ping!()).rejects.toThrow();
    await server.start();
    await queue.enqueue(queuedCall('call-2'));
    const states = async () => {
      const { rows } = await boss
        .getDb()
        .executeSql("SELECT state FROM pgboss.job WHERE name = 'outage'", []);
      return (rows as { state: string }[]).map(({ state }) => state);
    };
    await waitFor(async () => (await states()).join() === 'completed,completed');
    expect(runs).toEqual(['call-1', 'call-2']);
    expect(lines).toEqual([]);
    await worker.close();
  }, 30_000);

  it('closes a worker in time though Postgres is frozen, and aborts its handlers', async () => {
    const queue = pgBossQueue(boss, { queue: 'frozen' });
    const started = deferred<AbortSignal>();
    const hang = deferred();
    const worker = createPgBossWorker(boss, {
      queue: 'frozen',
      pollEvery: 20,
      logger: collectingLogger(),
      on: {
        'call:completed': (_event, { signal }) => {
          started.resolve(signal);
          return hang.promise;
        },
      },
    });
    await queue.enqueue(queuedCall('call-1'));
    const signal = await started.promise;
    server.freeze();
    try {
      const from = performance.now();
      await worker.close({ graceMs: 200 });
      expect(performance.now() - from).toBeLessThan(2_000);
      expect(signal.aborted).toBe(true);
    } finally {
      server.thaw();
      hang.resolve();
    }
  }, 20_000);
});
