import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { endsByItself, WORKER_PRINTED, workerProgram } from '@call-webhooks/contract-tests';
import { withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

withPostgres('a process with a store, and a queue of pg-boss', () => {
  const test = usePostgres();

  it('ends by itself once its worker, pg-boss and its pool are closed', async () => {
    const program = workerProgram({
      imports: `import pg from 'pg';
import { createPgBossWorker, pgBossQueue, postgresStore } from '@call-webhooks/postgres';
import { PgBoss } from './../pg-boss-version.ts';`,
      open: `const connectionString = ${JSON.stringify(test.server.url)};
const pool = new pg.Pool({ connectionString });
const store = postgresStore(pool);
await store.migrate();
const boss = new PgBoss({ connectionString });
boss.on('error', (error: Error) => console.log(error.message));
await boss.start();
const queue = pgBossQueue(boss);
const startWorker = (options: object) => createPgBossWorker(boss, { pollEvery: 20, ...options });`,
      close:
        'await boss.stop({ graceful: false, wait: true });\nawait store.close();\nawait pool.end();',
    });
    expect(await endsByItself(fileURLToPath(new URL('.', import.meta.url)), program)).toBe(
      WORKER_PRINTED,
    );
  });
});
