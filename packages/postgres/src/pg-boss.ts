import { WebhookError } from '@call-webhooks/core';
import { type JobFailure, option } from '@call-webhooks/core/stores';
import { checkEncoding } from './checked-client.ts';
import { answerOf } from './client.ts';

/** The options of a job that are set. None is left to the defaults of a queue, which may be anything. */
export interface PgBossSendOptions {
  id: string;
  retryLimit: number;
  retryDelay: number;
  retryBackoff: boolean;
  /** pg-boss 12 only, with `retryBackoff`. */
  retryDelayMax?: number;
  expireInSeconds: number;
  retentionSeconds: number;
  deadLetter?: string;
}

/** A job as pg-boss hands it out with `includeMetadata`. Clients may give numbers as texts. */
export interface PgBossJob {
  id: string;
  data: unknown;
  retryCount: number;
  retryLimit: number;
  /** Seconds. */
  retryDelay: number;
  retryBackoff: boolean;
  /** pg-boss 12 only. Seconds. */
  retryDelayMax?: number | null;
  expireInSeconds: number;
  /** The queue for dead jobs; null if none was named. */
  deadLetter: string | null;
  createdOn: Date | string;
  /** When pg-boss deletes it. */
  keepUntil: Date | string;
  /** What the last run was settled with; pg-boss's own text if that run expired. */
  output: {
    released?: boolean;
    abandonReason?: string;
    failures?: readonly JobFailure[];
  } | null;
}

/** The methods that are used of pg-boss 10 and 12. */
export interface PgBossClient {
  createQueue(name: string): Promise<unknown>;
  send(name: string, data: object, options: object): Promise<string | null>;
  // `db` is in the types of both versions, and `includeArchive` in those of 10 only.
  getJobById(
    name: string,
    id: string,
    options: { includeArchive: boolean; db?: never },
  ): Promise<unknown>;
  getQueue(name: string): Promise<unknown>;
  fetch(
    name: string,
    options: { batchSize: number; includeMetadata: true; priority?: boolean },
  ): Promise<unknown[]>;
  complete(name: string, id: string, output?: object): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  deleteJob(name: string, id: string): Promise<unknown>;
  getDb(): { executeSql(text: string, values: unknown[]): Promise<unknown> };
}

const METHODS = [
  ...['createQueue', 'send', 'getJobById', 'getQueue', 'fetch', 'complete', 'fail', 'deleteJob'],
  'getDb',
];

/** @throws WebhookError `invalid-options` for what is not pg-boss 10 or 12 */
export function checkBoss(creator: string, boss: PgBossClient): void {
  const missing = METHODS.find((method) => !has(boss, method));
  if (missing !== undefined)
    throw new WebhookError(
      'invalid-options',
      `Invalid pg-boss of ${creator}: it has no ${missing}(). Pass an instance of pg-boss 10 or 12.`,
    );
  // Its tables are those of neither.
  if (has(boss, 'supervise') && !has(boss, 'findJobs'))
    throw new WebhookError(
      'invalid-options',
      `Invalid pg-boss of ${creator}: this is pg-boss 11 or an early 12. Install pg-boss 12 (npm install pg-boss@12, from 12.38, on Node 22.12 or newer) or pg-boss 10 (npm install pg-boss@10).`,
    );
}

/** Whether this is pg-boss 10, whose tables and options differ a little from those of 12. */
export const isPgBoss10 = (boss: PgBossClient): boolean => !has(boss, 'findJobs');

const has = (boss: unknown, method: string): boolean =>
  typeof Reflect.get(Object(boss) as object, method) === 'function';

/** The names of the queues and of the schema of pg-boss. */
export interface PgBossNames {
  /** The name of the queue; `call-webhooks` by default. */
  queue?: string | undefined;
  /**
   * The name of the queue to which workers move dead jobs; by default, the name of the queue followed
   * by `-dead`.
   */
  deadQueue?: string | undefined;
  /** The schema of pg-boss; `pgboss` by default, as in pg-boss. */
  schema?: string | undefined;
}

/** The rules for the names of the queues and of the schema of pg-boss. */
export const nameRules = () => ({
  queue: option.default(queueName(), 'call-webhooks'),
  deadQueue: option.optional(queueName()),
  schema: option.default(
    option.text(/^[a-z_]\w{0,49}$/i, 'expected the name of a schema, without quotes'),
    'pgboss',
  ),
});
const queueName = () => option.text(/^.{1,200}$/su, 'expected the name of a queue');
export const deadQueueOf = (queue: string) => `${queue}-dead`;

const DEADLOCK = '40P01';
const TRIES = 5;

/**
 * Creates both queues if they are missing. Existing ones keep their settings.
 * @throws WebhookError `invalid-options` if a queue has settings with which it would lose jobs
 */
export async function createQueues(
  boss: PgBossClient,
  queue: string,
  deadQueue: string,
): Promise<void> {
  for (const name of [deadQueue, queue]) await createQueue(boss, name, TRIES);
}

/** @throws WebhookError `invalid-options` for a database that can't keep every text */
export async function checkEncodingOf(boss: PgBossClient): Promise<void> {
  const db = boss.getDb();
  const query = (text: string, values: unknown[] = []) => db.executeSql(text, values);
  const text = `SELECT json_build_object('encoding', getdatabaseencoding())::text AS answer`;
  const { encoding } = Object(await answerOf({ query }, text, [])) as { encoding?: unknown };
  checkEncoding(encoding);
}

/** For pg-boss a queue is a new table, and creating two at once may deadlock. */
async function createQueue(boss: PgBossClient, name: string, tries: number): Promise<void> {
  const found = await boss.getQueue(name);
  if (found) {
    checkQueue(name, found);
    return;
  }
  try {
    await boss.createQueue(name);
  } catch (error) {
    if ((error as { code?: unknown }).code !== DEADLOCK || tries <= 1) throw error;
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
    await createQueue(boss, name, tries - 1);
  }
}

/** Every other default of a queue is overridden by what jobs are sent with. */
function checkQueue(name: string, found: object): void {
  const { policy, heartbeatSeconds } = found as { policy?: string; heartbeatSeconds?: unknown };
  if ((policy ?? 'standard') !== 'standard')
    throw unfit(name, `policy: '${String(policy)}'`, 'pg-boss would refuse some of its jobs');
  if (typeof heartbeatSeconds === 'number')
    throw unfit(name, 'heartbeatSeconds', 'pg-boss would treat running jobs as lost');
}

const unfit = (name: string, setting: string, why: string) =>
  new WebhookError(
    'invalid-options',
    `The queue "${name}" of pg-boss has ${setting}: ${why}. Use a queue without it.`,
    { docs: 'queues.md#pg-boss' },
  );

/**
 * Sends a job under an id of its own.
 * @throws Error if pg-boss silently took none
 */
export async function sendOnce(
  boss: PgBossClient,
  queue: string,
  data: object,
  options: { id: string; retentionSeconds: number; startAfter?: number; deadLetter?: string },
): Promise<void> {
  if ((await boss.send(queue, data, options)) !== null) return;
  // pg-boss answers null if it has the job. pg-boss 10 does so as well if it has no such queue.
  if (await boss.getJobById(queue, options.id, { includeArchive: true })) return;
  throw new Error(`pg-boss did not accept the job. Was the queue "${queue}" deleted?`);
}

/** No worker runs the job of a health check before it is deleted; seconds. */
const NOT_SOON = 86_400;

/**
 * Sends a job that is not due, and deletes it.
 * @throws Error if pg-boss would take no delivery
 */
export async function probeQueue(
  boss: PgBossClient,
  queue: string,
  deadLetter: string,
): Promise<void> {
  const id = crypto.randomUUID();
  const data = { healthCheck: true };
  await sendOnce(boss, queue, data, {
    ...{ id, startAfter: NOT_SOON, retentionSeconds: NOT_SOON },
    ...{ retryLimit: 0, retryDelay: 0, retryBackoff: false, expireInSeconds: 60, deadLetter },
  });
  await boss.deleteJob(queue, id);
}

/**
 * Retries beyond ours. At its own limit pg-boss gives a job up and tells nobody, also if its worker
 * was killed. Our limit is reached before.
 */
const BEYOND = 1_000_000_000;

/** The `retryLimit` of a job that its worker gives up after `maxRuns` runs. */
export const retryLimitOf = (maxRuns: number): number => BEYOND + maxRuns - 1;

/** How often the worker runs the job; `undefined` if pg-boss gives it up itself: it was sent by hand. */
export const maxRunsOf = ({ retryLimit }: PgBossJob): number | undefined =>
  retryLimit < BEYOND ? undefined : retryLimit - BEYOND + 1;
