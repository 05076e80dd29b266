import type { QueuedDelivery } from '@call-webhooks/core';
import {
  checkOptions,
  type DeadJobRecord,
  type DeadJobs,
  deadJobs,
  type ExpiringLetters,
  type JobFailure,
} from '@call-webhooks/core/stores';
import { answerOf, oddAnswer, yesOrNo } from './client.ts';
import {
  checkBoss,
  createQueues,
  deadQueueOf,
  isPgBoss10,
  nameRules,
  retryLimitOf,
  type PgBossClient,
  type PgBossNames,
} from './pg-boss.ts';
import { fromJobData } from './pg-boss-data.ts';
import { whether } from './statements.ts';

/** What a worker adds to the data of a job that it gives up. */
export interface DeadJobNote {
  /** Its failed attempts, oldest first, without values of the payload. */
  readonly failures: readonly JobFailure[];
  readonly attempt: number;
  /** Of the job; seconds. */
  readonly expireInSeconds: number;
  /** Of the job; seconds. */
  readonly retryDelay: number;
  /** How long pg-boss kept the job; seconds. */
  readonly retentionSeconds: number;
}

/** The data of a job in the queue for dead jobs. */
export type DeadJobData = QueuedDelivery & { readonly failure: DeadJobNote };

/**
 * The options of `pgBossDeadJobs`: the names of the queues and of the schema, as its worker has them.
 */
export type PgBossDeadJobsOptions = PgBossNames;

/** How many jobs are read at once. */
const PAGE = 200;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the jobs in the queue for dead jobs as dead letters, for `redrive({ deadJobs })`. `requeue`
 * moves a job back to its queue, in one statement, so that it is run once more.
 * @throws WebhookError `invalid-options`
 * @example
 * const { queued } = await redrive({ deadJobs: pgBossDeadJobs(boss) });
 */
export function pgBossDeadJobs(boss: PgBossClient, options: PgBossDeadJobsOptions = {}): DeadJobs {
  const settings = checkOptions('pgBossDeadJobs', nameRules(), options);
  checkBoss('pgBossDeadJobs', boss);
  const { queue, deadQueue = deadQueueOf(queue), schema } = settings;
  const sql = statements(schema, isPgBoss10(boss));
  const ask = (text: string, ...values: unknown[]) => {
    const db = boss.getDb();
    const query = (asked: string, given: unknown[] = []) => db.executeSql(asked, given);
    return answerOf({ query }, text, [deadQueue, queue, ...values]);
  };
  const jobsOf = async (text: string, ...values: unknown[]) => {
    const answer = await ask(text, ...values);
    if (!Array.isArray(answer)) throw oddAnswer();
    return answer.map(jobOf);
  };

  return deadJobs({
    isId: (id) => UUID.test(id),
    page: ({ since, until, after = { failedAt: 0, id: LOWEST } }) =>
      jobsOf(sql.list, since, until, after.failedAt, after.id, PAGE),
    get: async (id) => (await jobsOf(sql.get, id))[0],
    async requeue(id) {
      await createQueues(boss, queue, deadQueue);
      return yesOrNo(await ask(sql.requeue, id, retryLimitOf(1)));
    },
    remove: async (id) => yesOrNo(await ask(sql.remove, id)),
  });
}

/** Removes the dead jobs of a queue that have expired. Each batch is one statement, one at a time. */
export function expiredJobs(
  boss: PgBossClient,
  { queue, deadQueue, schema }: { queue: string; deadQueue: string; schema: string },
): NonNullable<ExpiringLetters['removeExpired']> {
  const query = (asked: string, given: unknown[] = []) => boss.getDb().executeSql(asked, given);
  const text = statements(schema, isPgBoss10(boss)).removeExpired;
  return async ({ before, limit }) => {
    const answer = await answerOf({ query }, text, [deadQueue, queue, before.getTime(), limit]);
    if (answer === null) return undefined;
    if (!Number.isInteger(answer)) throw oddAnswer();
    return Number(answer);
  };
}

const LOWEST = '00000000-0000-0000-0000-000000000000';

function jobOf(row: unknown): DeadJobRecord {
  const { id, data, failedAt } = Object(row) as {
    id?: unknown;
    data?: unknown;
    failedAt?: unknown;
  };
  if (typeof id !== 'string' || typeof failedAt !== 'number') throw oddAnswer();
  const { failure, ...kept } = data as DeadJobData;
  return {
    id,
    delivery: fromJobData(kept),
    failedAt: new Date(failedAt),
    ...failure,
    error: failure.failures.at(-1)?.error ?? '',
  };
}

function statements(schema: string, isTen: boolean) {
  const [expiry, second] = isTen ? ['expire_in', `interval '1 second'`] : ['expire_seconds', '1'];
  const failedAt = 'floor(extract(epoch FROM created_on) * 1000)';
  // The copy of a job that its worker has not completed yet is not dead: the worker may still fail to.
  const isDead = `name = $1 AND state = 'created' AND data -> 'failure' IS NOT NULL
    AND NOT EXISTS (SELECT FROM ${schema}.job AS original
      WHERE original.name = $2 AND original.id = job.id AND original.state <= 'active')`;
  const listOf = (more: string) => `SELECT coalesce(json_agg(
        json_build_object('id', id, 'data', data, 'failedAt', failed_at) ORDER BY failed_at, id
      ), '[]')::text AS answer
    FROM (SELECT id, data, ${failedAt} AS failed_at FROM ${schema}.job WHERE ${isDead} ${more}) AS found`;
  return {
    list: listOf(`AND ${failedAt} >= $3::bigint AND ${failedAt} < $4::bigint
        AND (${failedAt}, id) > ($5::bigint, $6::uuid)
      ORDER BY ${failedAt}, id LIMIT $7::int`),
    get: listOf('AND id = $3::uuid'),
    /** Answers null while another process removes some. */
    removeExpired: `WITH turn AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(hashtext('call-webhooks removal'), hashtext($1)) AS is_mine
      ), removed AS (
        DELETE FROM ${schema}.job WHERE name = $1 AND id = ANY (ARRAY(
          SELECT id FROM ${schema}.job WHERE ${isDead} AND ${failedAt} < $3::bigint AND (SELECT is_mine FROM turn)
          ORDER BY created_on, id LIMIT $4::int FOR UPDATE SKIP LOCKED
        )) RETURNING 1
      )
      SELECT CASE WHEN (SELECT is_mine FROM turn) THEN (SELECT count(*) FROM removed)::text ELSE 'null' END AS answer`,
    remove: whether(`DELETE FROM ${schema}.job WHERE ${isDead} AND id = $3::uuid`),
    /**
     * The job takes the place of the one that was given up, under the same id. Its next run is its last.
     * The dead job stays where it is if the event was delivered again since and was handled: only a job
     * that was given up has a message.
     */
    requeue: `WITH dead AS (
        SELECT id, data, (data #>> '{failure,retentionSeconds}')::float8 * interval '1 second' AS kept,
          (data #>> '{failure,attempt}')::int AS attempt,
          jsonb_build_object('failures', data #> '{failure,failures}') AS output,
          (data #>> '{failure,retryDelay}')::int AS retry_delay,
          (data #>> '{failure,expireInSeconds}')::int * ${second} AS ${expiry}
        FROM ${schema}.job WHERE ${isDead} AND id = $3::uuid
        FOR UPDATE
      ), moved AS (
        INSERT INTO ${schema}.job AS job
          (id, name, data, retry_count, retry_limit, retry_delay, ${expiry}, keep_until, dead_letter, output, policy)
        SELECT id, $2, data - 'failure', attempt, $4::int + attempt, retry_delay, ${expiry}, now() + kept, $1, output,
          (SELECT policy FROM ${schema}.queue WHERE name = $2)
        FROM dead
        ON CONFLICT (name, id) DO UPDATE SET
          state = 'created', data = excluded.data, output = excluded.output,
          retry_count = excluded.retry_count, retry_limit = excluded.retry_limit,
          created_on = now(), start_after = now(), started_on = NULL, completed_on = NULL,
          keep_until = excluded.keep_until
        WHERE job.state > 'active' AND job.output -> 'message' IS NOT NULL
        RETURNING id
      ), removed AS (
        DELETE FROM ${schema}.job WHERE name = $1 AND id IN (SELECT id FROM moved) RETURNING 1
      )
      SELECT (EXISTS (SELECT FROM removed))::text AS answer`,
  };
}
