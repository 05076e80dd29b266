import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  queuedCall,
  startPostgres,
  until,
} from '@call-webhooks/testing';
import PgBoss from 'pg-boss';
import { createPgBossWorker, pgBossQueue } from '../src/index.ts';
import { withPostgres } from './support.ts';

withPostgres('a pg-boss worker whose Postgres is killed', () => {
  it('settles what it ran once Postgres is back, runs nothing twice, and takes new jobs', async () => {
    const server = await startPostgres({ fsync: true });
    const boss = new PgBoss({ connectionString: server.url, supervise: false, schedule: false });
    boss.on('error', () => undefined);
    await boss.start();
    const queue = pgBossQueue(boss);
    await queue.migrate();
    const started = deferred();
    const go = deferred();
    const runs: string[] = [];
    const { lines, ...logger } = collectingLogger();
    const worker = createPgBossWorker(boss, {
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
      const { rows } = await boss.getDb().executeSql('SELECT state FROM pgboss.job', []);
      return (rows as { state: string }[]).map(({ state }) => state);
    };
    await until(async () => (await states()).join() === 'completed,completed');
    expect(runs).toEqual(['call-1', 'call-2']);
    expect(lines).toEqual([]);
    await worker.close();
    await boss.stop({ graceful: false, wait: true });
    await server.remove();
  }, 30_000);
});
