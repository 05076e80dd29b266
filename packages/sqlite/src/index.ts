export { sqliteDeadJobs } from './dead-jobs.ts';
export { sqliteDeadLetters, type SqliteDeadLettersOptions } from './dead-letters.ts';
export { sqliteStore, type SqliteStore, type SqliteStoreOptions } from './store.ts';
export type { SqliteTransaction } from './complete-in.ts';
export type { SqliteDatabase, SqliteStatement } from './database.ts';
export { sqliteQueue, type SqliteQueue, type SqliteQueueOptions } from './queue.ts';
export type { DeadJob, QueueStats } from './job-rows.ts';
export { createSqliteWorker, type SqliteWorker, type SqliteWorkerOptions } from './worker.ts';
export type { BackoffOptions } from '@call-webhooks/core/stores';
