import type { JobTransaction } from '@call-webhooks/core/stores';
import type { PgBossClient, PgBossJob } from './pg-boss.ts';
import { completeIn, literal } from './transaction.ts';

/** Which job, and where it is. */
interface JobLocation {
  readonly boss: PgBossClient;
  readonly queue: string;
  /** The schema of pg-boss. */
  readonly schema: string;
}

/**
 * A fetched job, to be completed in a transaction of its handler. pg-boss counts each run, so that the
 * count fences: a run whose job expired, and was fetched again, can't complete it.
 */
export function jobTransaction(
  { id, retryCount }: PgBossJob,
  { boss, queue, schema }: JobLocation,
): JobTransaction {
  return {
    completeIn: (tx) =>
      completeIn(tx, {
        update: `UPDATE ${schema}.job SET state = 'completed', completed_on = now(), output = NULL`,
        where: `name = ${literal(queue)} AND id = ${literal(id)}::uuid AND retry_count = ${String(retryCount)} AND state IN ('active', 'completed')`,
      }),
    async isCompleted() {
      const reply = await boss.getDb().executeSql(
        // The lock waits for a commit that is under way.
        `SELECT state = 'completed' AND retry_count = $3::int AS done FROM ${schema}.job WHERE name = $1 AND id = $2::uuid FOR SHARE`,
        [queue, id, retryCount],
      );
      const [row] = (reply as { rows: { done: boolean }[] }).rows;
      return row?.done === true;
    },
  };
}
