import type { QueuedDelivery } from '@call-webhooks/core';
import { addFailure, type JobTransaction, type LeasedJob } from '@call-webhooks/core/stores';
import { answerOf, yesOrNo } from './client.ts';
import type { DeadJobData, DeadJobNote } from './pg-boss-dead-jobs.ts';
import { fromJobData, storableText } from './pg-boss-data.ts';
import { continuedJobId } from './pg-boss-job-id.ts';
import {
  createQueues,
  retryLimitOf,
  sendOnce,
  type PgBossClient,
  type PgBossJob,
  type PgBossSendOptions,
} from './pg-boss.ts';
import { completeIn, literal } from './transaction.ts';

/** The queues of a worker. */
export interface WorkerQueues {
  readonly boss: PgBossClient;
  readonly queue: string;
  readonly deadQueue: string;
  /** The schema of pg-boss. */
  readonly schema: string;
}

/** Until its user removes it: pg-boss can't keep a job for ever, but for 68 years. */
const KEPT_SECONDS = 2 ** 31 - 1;
const LOST = 'Its last run did not end: the process died, or expireIn passed.';

/**
 * A job as pg-boss gave it, with the types that it should have: a client of pg may be told to leave
 * numbers and JSON as texts.
 * @throws Error for what is no job
 */
export function fetchedJob(given: unknown): PgBossJob {
  const job = Object(given) as Record<keyof PgBossJob, unknown>;
  const [retryCount, retryLimit, retryDelay] = [job.retryCount, job.retryLimit, job.retryDelay].map(
    (number) => (number === null ? NaN : Number(number)),
  ) as [number, number, number];
  const expireInSeconds = Number(job.expireInSeconds);
  if (![retryCount, retryLimit, retryDelay].every(Number.isInteger) || !(expireInSeconds > 0))
    throw new Error('pg-boss returned a job without its numbers. Does its client rename columns?');
  return {
    ...(job as unknown as PgBossJob),
    retryCount,
    retryLimit,
    retryDelay,
    expireInSeconds,
    retryBackoff: job.retryBackoff === true,
    data: parsed(job.data),
    output: parsed(job.output) as PgBossJob['output'],
  };
}

const parsed = (json: unknown): unknown =>
  typeof json === 'string' ? (JSON.parse(json) as unknown) : json;

/**
 * A fetched job of pg-boss, for the worker that runs it.
 * @param maxRuns how often it is run
 */
export function leasedJob(job: PgBossJob, maxRuns: number, queues: WorkerQueues): LeasedJob {
  const { boss, queue, deadQueue } = queues;
  const { id, output } = job;
  const attempt = job.retryCount + 1;
  const wasLost = attempt > maxRuns && output?.released !== true;
  const abandonReason = output?.abandonReason ?? (wasLost ? LOST : undefined);
  const delivery = fromJobData(job.data);
  const failures = output?.failures ?? [];
  const failuresWith = (error: string) =>
    addFailure(failures, { at: Date.now(), attempt, error: storableText(error) });

  /** Under the job's own id, so that repeating this adds no second dead job. */
  async function moveToDead(message: string): Promise<void> {
    const target = job.deadLetter ?? deadQueue;
    await createQueues(boss, queue, target); // pg-boss sends nothing to a missing queue, silently
    const failure: DeadJobNote = {
      attempt,
      failures: failuresWith(message),
      retryDelay: job.retryDelay,
      expireInSeconds: Math.ceil(job.expireInSeconds),
      retentionSeconds: retentionSeconds(job),
    };
    const data = { ...(job.data as QueuedDelivery), failure } satisfies DeadJobData;
    await sendOnce(boss, target, data, { id, retentionSeconds: KEPT_SECONDS });
    await complete(queues, id, { message: storableText(message) });
  }

  return {
    delivery,
    attempt,
    maxRuns,
    isLastAttempt: attempt >= maxRuns,
    moveToDead,
    abandonReason: abandonReason === undefined ? undefined : new Error(abandonReason),
    expiresIn: job.expireInSeconds * 1_000,
    transaction: jobTransaction(job, queues),
    complete: () => complete(queues, id),
    retry: (message, reason) =>
      boss.fail(queue, id, {
        message: storableText(message),
        failures: failuresWith(message),
        ...(reason !== undefined && { abandonReason: storableText(reason) }),
      }),
    /** As a failure: pg-boss has no other way. The job is run again, after its last attempt as well. */
    release: () =>
      boss.fail(queue, id, {
        message: 'The worker was closed before the handler ended.',
        failures,
        ...(abandonReason === undefined ? { released: true } : { abandonReason }),
      }),
  };
}

/**
 * Continues a job that was sent by hand as one that its worker gives up: at a limit of its own,
 * pg-boss would not run it again, even if `deadLetter` failed or the worker was killed. Its new id
 * comes from its own, so that repeating this adds no second job.
 */
export async function continueJob(job: PgBossJob, queues: WorkerQueues): Promise<void> {
  const { boss, queue } = queues;
  const { retryLimit, retryDelay, retryBackoff, retryDelayMax, deadLetter } = job;
  const id = await continuedJobId(job.id);
  const options: PgBossSendOptions = {
    id,
    retryLimit: retryLimitOf(retryLimit + 1),
    retryDelay,
    retryBackoff,
    ...(retryBackoff && typeof retryDelayMax === 'number' && { retryDelayMax }),
    expireInSeconds: Math.ceil(job.expireInSeconds),
    retentionSeconds: retentionSeconds(job),
    ...(deadLetter !== null && { deadLetter }),
  };
  await sendOnce(boss, queue, Object(job.data) as object, options);
  await complete(queues, job.id, { continuedBy: id });
}

/** How long pg-boss keeps a job, from when it was created. */
function retentionSeconds({ createdOn, keepUntil }: PgBossJob): number {
  const kept = new Date(keepUntil).getTime() - new Date(createdOn).getTime();
  return Math.max(1, Math.ceil(kept / 1_000));
}

/** What is left of the data of a completed job: pg-boss keeps it for days, to know duplicates by its id. */
const WITHOUT_BODY = `data = data - 'body' - 'escaped' - 'trace'`;

/** Completes a job, and removes its body. If that fails, pg-boss removes the body with the job. */
async function complete(
  { boss, queue, schema }: WorkerQueues,
  id: string,
  output?: object,
): Promise<void> {
  await (output ? boss.complete(queue, id, output) : boss.complete(queue, id));
  const update = `UPDATE ${schema}.job SET ${WITHOUT_BODY}
    WHERE name = $1 AND id = $2::uuid AND state = 'completed' AND jsonb_typeof(data) = 'object'`;
  try {
    await boss.getDb().executeSql(update, [queue, id]);
  } catch {
    // The job is done, and must not be run again for this.
  }
}

/**
 * A fetched job, to be completed in a transaction of its handler. pg-boss counts each run, so that the
 * count fences: a run whose job expired, and was fetched again, can't complete it.
 */
function jobTransaction(
  { id, retryCount }: PgBossJob,
  { boss, queue, schema }: WorkerQueues,
): JobTransaction {
  const job = `name = ${literal(queue)} AND id = ${literal(id)}::uuid`;
  return {
    completeIn: (tx) =>
      completeIn(tx, {
        update: `UPDATE ${schema}.job SET state = 'completed', completed_on = now(), output = NULL, ${WITHOUT_BODY}`,
        where: `${job} AND retry_count = ${String(retryCount)} AND state IN ('active', 'completed')`,
        isHere: `EXISTS (SELECT FROM ${schema}.job WHERE ${job})`,
      }),
    async isCompleted() {
      const db = boss.getDb();
      // The lock waits for a commit that is under way.
      const text = `WITH job AS (SELECT state = 'completed' AND retry_count = $3::int AS done
  FROM ${schema}.job WHERE name = $1 AND id = $2::uuid FOR SHARE)
SELECT coalesce(bool_or(done), false)::text AS answer FROM job`;
      const client = { query: (sql: string, values: unknown[] = []) => db.executeSql(sql, values) };
      return yesOrNo(await answerOf(client, text, [queue, id, retryCount]));
    },
  };
}
