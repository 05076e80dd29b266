import { setTimeout as delay } from 'node:timers/promises';
import PgBoss from 'pg-boss';
import { importPackage } from '../checkout.ts';
import { startPostgres } from '../stores/servers.ts';
import { CONCURRENCY, type Backend } from './backend.ts';

const QUEUES = { ours: 'call-webhooks', bare: 'bare' } as const;

/** pg-boss on a Postgres that syncs its log with each commit. */
export async function openPgBoss(root: string): Promise<Backend> {
  const { pgBossQueue, createPgBossWorker } = await importPackage<
    typeof import('@call-webhooks/postgres')
  >(root, 'postgres');
  const server = await startPostgres();
  const boss = new PgBoss({
    ...{ host: '127.0.0.1', port: server.port, user: 'postgres', database: 'postgres' },
    ...{ max: 16, supervise: false, schedule: false },
  });
  boss.on('error', () => undefined); // the server stops before the last connection has ended
  await boss.start();
  const queue = pgBossQueue(boss);
  await queue.migrate();
  await boss.createQueue(QUEUES.bare);

  return {
    queue,
    addBare: (delivery) => boss.send(QUEUES.bare, delivery),
    startWorker: (which, onRun) =>
      which === 'ours'
        ? createPgBossWorker(boss, {
            concurrency: CONCURRENCY,
            on: { 'call:completed': onRun },
          })
        : startBare(boss, onRun),
    async openJobs(which) {
      const text = `SELECT count(*)::int AS open FROM pgboss.job WHERE name = $1 AND state < 'completed'`;
      const answer: unknown = await boss.getDb().executeSql(text, [QUEUES[which]]);
      return (answer as { rows: [{ open: number }] }).rows[0].open;
    },
    clear: () => boss.clearStorage(),
    async stop() {
      await boss.stop({ graceful: false });
      await server.stop();
    },
  };
}

/** Fetches jobs, runs them, and completes each on its own, since each could fail on its own. */
function startBare(boss: PgBoss, onRun: () => void) {
  let closed = false;
  async function loop(): Promise<void> {
    while (!closed) {
      const jobs = await boss.fetch(QUEUES.bare, { batchSize: CONCURRENCY, priority: false });
      if (jobs.length === 0) await delay(10);
      const run = async ({ id }: { id: string }) => {
        onRun();
        await boss.complete(QUEUES.bare, id);
      };
      await Promise.all(jobs.map(run));
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
