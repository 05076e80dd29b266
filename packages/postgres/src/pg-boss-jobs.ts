import {
  checkOptions,
  invalidCursor,
  type JobState,
  type ListedJob,
  type QueueJobs,
} from '@call-webhooks/core/stores';
import { answerOf, oddAnswer, yesOrNo } from './client.ts';
import {
  checkBoss,
  deadQueueOf,
  isPgBoss10,
  nameRules,
  type PgBossClient,
  type PgBossNames,
} from './pg-boss.ts';
import { fromJobData } from './pg-boss-data.ts';
import { jobId } from './pg-boss-job-id.ts';
import { whether } from './statements.ts';

/** The options of `pgBossJobs`: the names of the queues and of the schema, as its worker has them. */
export type PgBossJobsOptions = PgBossNames;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const LOWEST = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the jobs of a queue and of its queue for dead jobs in every state, for `erase()`, including
 * those that pg-boss 10 has archived. A completed job has no body any more once its worker has removed
 * it.
 * @throws WebhookError `invalid-options`
 * @example
 * const erased = await erase({ contains: ['+15550104477'], jobs: pgBossJobs(boss) });
 */
export function pgBossJobs(boss: PgBossClient, options: PgBossJobsOptions = {}): QueueJobs {
  const settings = checkOptions('pgBossJobs', nameRules(), options);
  checkBoss('pgBossJobs', boss);
  const { queue, deadQueue = deadQueueOf(queue), schema } = settings;
  const sql = statements(schema, isPgBoss10(boss));
  const ask = (text: string, ...values: unknown[]) => {
    const db = boss.getDb();
    const query = (asked: string, given: unknown[] = []) => db.executeSql(asked, given);
    return answerOf({ query }, text, [queue, deadQueue, ...values]);
  };

  return {
    async list({ cursor = `0.${LOWEST}`, limit = 100 } = {}) {
      const [, place, id] =
        /^([0-2])\.([0-9a-f-]{36})$/.exec(typeof cursor === 'string' ? cursor : '') ?? [];
      if (place === undefined || id === undefined || !UUID.test(id)) throw invalidCursor();
      const answer = await ask(sql.list, Number(place), id, limit);
      if (!Array.isArray(answer)) throw oddAnswer();
      const rows = answer.map((row) => Object(row) as Row);
      const last = rows.at(-1);
      const page = { jobs: rows.map(listed) };
      return rows.length < limit || !last
        ? page
        : { ...page, cursor: `${String(last.place)}.${last.id}` };
    },
    async erase(id, state) {
      if (!UUID.test(id)) return false;
      const texts = { waiting: [sql.eraseWaiting], dead: [sql.eraseDead], done: sql.eraseDone };
      let isErased = false;
      for (const text of texts[state]) isErased = yesOrNo(await ask(text, id)) || isErased;
      return isErased;
    },
    async forget(keys) {
      let known = 0;
      for (const key of keys) {
        const id = await jobId({ key });
        let isKnown = false;
        for (const text of sql.forget) isKnown = yesOrNo(await ask(text, id)) || isKnown;
        if (isKnown) known += 1;
      }
      return known;
    },
  };
}

interface Row {
  id: string;
  place: number;
  state: JobState;
  createdOn: number;
  data: unknown;
}

function listed({ id, state, createdOn, data }: Row): ListedJob {
  if (typeof id !== 'string' || typeof createdOn !== 'number') throw oddAnswer();
  const delivery = Object(fromJobData(data)) as ListedJob['delivery'];
  const receivedAt = state === 'dead' ? undefined : delivery.receivedAt;
  return { id, state, at: new Date(receivedAt ?? createdOn), delivery };
}

/** $1 is the queue, $2 that for dead jobs. */
function statements(schema: string, isTen: boolean) {
  const job = `${schema}.job`;
  /** A dead job whose worker has not completed the original is still the worker's. */
  const original = `SELECT FROM ${job} AS original
    WHERE original.name = $1 AND original.id = job.id AND original.state <= 'active'`;
  const isDead = `name = $2 AND state = 'created' AND data -> 'failure' IS NOT NULL`;
  const state = `CASE
    WHEN ${isDead} THEN CASE WHEN EXISTS (${original}) THEN 'running' ELSE 'dead' END
    WHEN state < 'active' THEN 'waiting' WHEN state = 'active' THEN 'running' ELSE 'done' END`;
  const columns = `id, data, floor(extract(epoch FROM created_on) * 1000) AS created_on`;
  const hasData = `data IS NOT NULL AND data <> '{}'`;
  const archived = isTen
    ? `UNION ALL SELECT 2, 'done', ${columns} FROM ${schema}.archive WHERE name IN ($1, $2) AND ${hasData}`
    : '';
  const empty = `SET data = '{}', output = NULL`;
  const archive = (text: string) => (isTen ? [whether(text)] : []);
  return {
    /** $3 place and $4 id of the job to begin after, $5 how many. */
    list: `SELECT coalesce(json_agg(json_build_object('id', id, 'place', place, 'state', state, 'createdOn', created_on,
        'data', data) ORDER BY place, id), '[]')::text AS answer
      FROM (SELECT * FROM (
        SELECT CASE name WHEN $1 THEN 0 ELSE 1 END AS place, ${state} AS state, ${columns}
        FROM ${job} WHERE name IN ($1, $2) AND ${hasData} ${archived}
      ) AS kept WHERE (place, id) > ($3::int, $4::uuid) ORDER BY place, id LIMIT $5::int) AS found`,
    eraseWaiting: whether(
      `DELETE FROM ${job} WHERE name IN ($1, $2) AND id = $3::uuid AND state < 'active' AND NOT (${isDead})`,
    ),
    eraseDead: whether(
      `DELETE FROM ${job} WHERE ${isDead} AND id = $3::uuid AND NOT EXISTS (${original})`,
    ),
    eraseDone: [
      whether(
        `UPDATE ${job} ${empty} WHERE name IN ($1, $2) AND id = $3::uuid AND state > 'active' AND ${hasData}`,
      ),
      ...archive(
        `UPDATE ${schema}.archive ${empty} WHERE name IN ($1, $2) AND id = $3::uuid AND ${hasData}`,
      ),
    ],
    forget: [
      whether(
        `DELETE FROM ${job} WHERE name = $1 AND id = $3::uuid AND state > 'active' AND $2::text IS NOT NULL`,
      ),
      ...archive(
        `DELETE FROM ${schema}.archive WHERE name = $1 AND id = $3::uuid AND $2::text IS NOT NULL`,
      ),
    ],
  };
}
