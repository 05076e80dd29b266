export { postgresStore, type PostgresStore, type PostgresStoreOptions } from './store.ts';
export {
  postgresDeadLetters,
  type PostgresDeadLetters,
  type PostgresDeadLettersOptions,
} from './dead-letters.ts';
export { migrationSql, type Migration } from './schema.ts';
export type { PostgresClient } from './client.ts';
export type { PostgresTransaction } from './transaction.ts';
export { pgBossDeadJobs, type PgBossDeadJobsOptions } from './pg-boss-dead-jobs.ts';
export { pgBossJobs, type PgBossJobsOptions } from './pg-boss-jobs.ts';
export { pgBossQueue, type PgBossQueue, type PgBossQueueOptions } from './pg-boss-queue.ts';
export {
  createPgBossWorker,
  type PgBossWorker,
  type PgBossWorkerOptions,
} from './pg-boss-worker.ts';
export type { PgBossClient, PgBossNames } from './pg-boss.ts';
export type { BackoffOptions } from '@call-webhooks/core/stores';
