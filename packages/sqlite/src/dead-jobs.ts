import { deadJobLetter, deadJobList, type DeadJobs } from '@call-webhooks/core/stores';
import type { DeadJob } from './job-rows.ts';
import { jobsOf, type SqliteQueue } from './queue.ts';

/** How many jobs are read at once. */
const PAGE = 200;

const letterOf = ({ id, ...job }: DeadJob) => deadJobLetter({ id: String(id), ...job });
/** The ids of jobs are whole numbers. */
const idOf = (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : -1);

/**
 * The dead jobs of a queue as dead letters, for `redrive({ deadJobs })`. `requeue` runs one once more, and
 * `remove` deletes its delivery: its event stays known as a duplicate for `rememberFor`.
 * @throws WebhookError `invalid-options` for anything that `sqliteQueue` did not make
 * @example
 * const { queued } = await redrive({ deadJobs: sqliteDeadJobs(queue) });
 */
export function sqliteDeadJobs(queue: SqliteQueue): DeadJobs {
  const jobs = jobsOf('sqliteDeadJobs', queue);
  return {
    ...deadJobList(async function* read({ since, until, after }) {
      let from = { failedAt: after?.failedAt ?? 0, id: after ? idOf(after.id) : 0 };
      for (;;) {
        const page = await jobs.deadAfter({ since, until, ...from }, PAGE);
        for (const job of page) yield letterOf(job);
        const last = page.at(-1);
        if (!last || page.length < PAGE) return;
        from = { failedAt: last.failedAt.getTime(), id: last.id };
      }
    }),
    async get(id) {
      const job = await jobs.dead(idOf(id));
      return job && letterOf(job);
    },
    requeue: (id) => jobs.retryDead(idOf(id)),
    remove: (id) => jobs.discardDead(idOf(id)),
  };
}
