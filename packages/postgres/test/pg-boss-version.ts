import type TypedPgBoss from 'pg-boss';

/**
 * pg-boss 10, or the version whose entry file the environment names. pg-boss 12 needs Node 22, so it is no
 * dependency of this package: scripts/test-on-node.mjs installs it.
 */
const loaded = (await import(process.env['PG_BOSS_ENTRY'] ?? 'pg-boss')) as {
  default?: typeof TypedPgBoss;
  PgBoss?: typeof TypedPgBoss;
};

export const PgBoss = (loaded.PgBoss ?? loaded.default) as typeof TypedPgBoss;
export type PgBoss = TypedPgBoss;
export const isPgBoss10 = loaded.PgBoss === undefined;

/** The options of a pg-boss that does nothing by itself. pg-boss 12 looks at a queue once in an interval. */
export const PASSIVE = {
  supervise: false,
  schedule: false,
  ...(!isPgBoss10 && { monitorIntervalSeconds: 1 }),
};

/** The methods of pg-boss 12 in place of those that it does not have any more. */
interface PgBoss12 {
  supervise(): Promise<void>;
  deleteAllJobs(): Promise<unknown>;
}

/** Notices runs whose time is over. pg-boss does so by itself every minute or two. */
export const expireJobs = (boss: PgBoss): Promise<unknown> =>
  isPgBoss10 ? boss.expire() : (boss as unknown as PgBoss12).supervise();

/** Deletes all jobs of all queues. */
export const deleteAllJobs = (boss: PgBoss): Promise<unknown> =>
  isPgBoss10 ? boss.clearStorage() : (boss as unknown as PgBoss12).deleteAllJobs();

/** Deletes what pg-boss would delete by now. */
export const maintain = (boss: PgBoss): Promise<unknown> =>
  isPgBoss10 ? boss.maintain() : (boss as unknown as PgBoss12).supervise();
