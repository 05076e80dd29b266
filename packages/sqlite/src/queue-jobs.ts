import type { QueuedDelivery } from '@call-webhooks/core';
import { invalidCursor, type JobState, type QueueJobs } from '@call-webhooks/core/stores';
import { integer, storedKey, text, type Row } from './database.ts';
import { jobsOf, type SqliteQueue } from './queue.ts';

/** What is true of a job that waits; the parameter is the time. */
const WAITS = `state = 'open' AND (token IS NULL OR due_at <= ?)`;

/**
 * Returns the jobs of a queue in every state, for `erase()`. A job that is done has no body, and is not
 * listed. Erasing a job that waits or is dead leaves nothing of it in the queue, so the queue would take
 * its event once more. The store of the receiver still knows the event, unless its key is forgotten.
 * @throws WebhookError `invalid-options` for anything that `sqliteQueue` did not make
 * @example
 * const erased = await erase({ contains: ['+15550104477'], jobs: sqliteJobs(queue) });
 */
export function sqliteJobs(queue: SqliteQueue): QueueJobs {
  const jobs = jobsOf('sqliteJobs', queue);
  return {
    async list({ cursor = '0', limit = 100 } = {}) {
      if (typeof cursor !== 'string' || !/^\d{1,15}$/.test(cursor)) throw invalidCursor();
      const rows = await jobs.run((sql, at) =>
        sql.rows(
          `SELECT id, CASE WHEN ${WAITS} THEN 'waiting' WHEN state = 'open' THEN 'running' ELSE state END AS "state",
             due_at AS "dueAt", delivery
           FROM ${jobs.table} WHERE delivery IS NOT NULL AND id > ? ORDER BY id LIMIT ?`,
          ...[at, Number(cursor), limit],
        ),
      );
      const last = rows.at(-1);
      const page = { jobs: rows.map(listed) };
      return rows.length < limit || !last ? page : { ...page, cursor: String(integer(last, 'id')) };
    },
    async erase(id, state) {
      if (!/^[1-9]\d{0,14}$/.test(id) || state === 'done') return false;
      return jobs.run((sql, at) => {
        const [where, values] = state === 'dead' ? ["state = 'dead'", []] : [WAITS, [at]];
        // A row that is done would make the queue drop the event when it is delivered again.
        return sql.change(
          `DELETE FROM ${jobs.table} WHERE id = ? AND ${where}`,
          Number(id),
          ...values,
        );
      });
    },
    forget: (keys) =>
      jobs.run((sql) => {
        const forget = `DELETE FROM ${jobs.table} WHERE event = ? AND state = 'done'`;
        return keys.filter((key) => sql.change(forget, `event ${storedKey(key)}`)).length;
      }),
  };
}

function listed(row: Row) {
  const delivery = JSON.parse(text(row, 'delivery')) as QueuedDelivery;
  const state = text(row, 'state') as JobState;
  const at = new Date(state === 'dead' ? integer(row, 'dueAt') : delivery.receivedAt);
  return { id: String(integer(row, 'id')), state, at, delivery };
}
