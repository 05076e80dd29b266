import type { Queue } from '@call-webhooks/core';
import type { DeadJobs, QueueJobs } from '@call-webhooks/core/stores';
import Database from 'libsql';
import {
  createSqliteWorker,
  sqliteDeadJobs,
  sqliteJobs,
  sqliteQueue,
} from '../../../sqlite/src/index.ts';
import type { Effects, OpenedDeadJobs, OpenedQueueJobs } from '../../src/index.ts';

export type OpenedJobs = OpenedDeadJobs & OpenedQueueJobs & Effects;

/** A queue whose jobs, or what says how they are, break one promise. */
export interface BrokenJobs {
  wrong: string;
  promise: string;
  breaks(healthy: OpenedJobs): Partial<OpenedJobs>;
}

/** A queue in SQLite in memory, with its jobs. All of it shares one connection. */
export function openJobs(
  { maxRuns, concurrency }: { maxRuns: number; concurrency: number },
  breaks?: BrokenJobs['breaks'],
): Promise<OpenedJobs> {
  // A handler of a test that failed may hang.
  const graceMs = breaks ? 20 : 10_000;
  const db = new Database(':memory:');
  db.exec('CREATE TABLE effects (effect TEXT NOT NULL)');
  const queue = sqliteQueue(db);
  const deadJobs = sqliteDeadJobs(queue);
  const healthy: OpenedJobs = {
    queue,
    deadJobs,
    others: deadJobs,
    jobs: sqliteJobs(queue),
    refusals: {
      'a file that can only be read': async () => {
        db.exec('PRAGMA query_only = 1');
        return async () => db.exec('PRAGMA query_only = 0');
      },
    },
    startWorker(handlers) {
      const worker = createSqliteWorker(queue, {
        ...{ ...handlers, maxRuns, concurrency, pollEvery: 5 },
        backoff: { initialDelay: 2, maxDelay: 2 },
      });
      const close = () => worker.close({ graceMs });
      return Promise.resolve({ close, health: () => worker.health() });
    },
    async deadLetters() {
      const rows = db
        .prepare(`SELECT delivery FROM call_webhooks_jobs WHERE state = 'dead' ORDER BY id`)
        .all() as { delivery: string }[];
      return rows.map(({ delivery }) => JSON.parse(delivery) as never);
    },
    client: {},
    async transact(work) {
      db.exec('BEGIN');
      try {
        const insert = 'INSERT INTO effects VALUES (?)';
        await work({ tx: db, write: async (effect) => db.prepare(insert).run(effect) });
        db.exec('COMMIT');
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
    },
    async committed(effect) {
      return db.prepare('SELECT effect FROM effects WHERE effect = ?').all(effect).length;
    },
    close: () => Promise.resolve(void db.close()),
  };
  return Promise.resolve({ ...healthy, ...breaks?.(healthy) });
}

const ofDead = (breaks: (healthy: DeadJobs) => Partial<DeadJobs>): BrokenJobs['breaks'] => {
  return ({ deadJobs }) => {
    const broken = { ...deadJobs, ...breaks(deadJobs) };
    return { deadJobs: broken, others: broken };
  };
};
const ofExpired =
  (change: (remove: NonNullable<Queue['removeExpired']>) => NonNullable<Queue['removeExpired']>) =>
  ({ queue }: OpenedJobs): Partial<OpenedJobs> => {
    return { queue: { ...queue, removeExpired: change(queue.removeExpired!) } };
  };
const ofJobs = (breaks: (healthy: QueueJobs) => Partial<QueueJobs>): BrokenJobs['breaks'] => {
  return ({ jobs }) => ({ jobs: { ...jobs, ...breaks(jobs) } });
};
const SHOWN = 'shows a dead job as a letter, with all that is known of it';
const PAGED = 'pages, filters and counts';
const GONE = 'removes a job for good';
const BATCHES = 'removes what has expired, in batches, and leaves the others';
const OPERATORS = 'runs each job once for two operators, and no job twice at the same time';

export const BROKEN_DEAD_JOBS: readonly BrokenJobs[] = [
  {
    wrong: 'says that a job came over HTTP',
    promise: SHOWN,
    breaks: ofDead((healthy) => ({
      async list(query) {
        const page = await healthy.list(query);
        return { ...page, letters: page.letters.map((one) => ({ ...one, source: 'webhook' })) };
      },
    })),
  },
  {
    wrong: 'lists jobs with their bodies',
    promise: SHOWN,
    breaks: ofDead((healthy) => ({
      async list(query) {
        const { letters, ...page } = await healthy.list(query);
        const whole = letters.map(async ({ id }) => (await healthy.get(id))!);
        return { ...page, letters: await Promise.all(whole) };
      },
    })),
  },
  {
    wrong: 'says of an earlier time that a job failed then',
    promise: SHOWN,
    breaks: ofDead((healthy) => ({
      async list(query) {
        const page = await healthy.list(query);
        return { ...page, letters: page.letters.map((one) => ({ ...one, failedAt: new Date(0) })) };
      },
    })),
  },
  {
    wrong: 'runs no job that is requeued',
    promise: 'runs a job that is requeued once more; a second failure is dead again',
    breaks: ofDead((healthy) => ({ requeue: (id) => healthy.remove(id) })),
  },
  ...(['tenant', 'eventName', 'reason', 'since', 'until'] as const).map((filter) => ({
    wrong: `counts without the filter ${filter}`,
    promise: PAGED,
    breaks: ofDead((healthy) => ({
      count: ({ [filter]: _ignored, ...query } = {}) => healthy.count(query),
    })),
  })),
  {
    wrong: 'begins again for a cursor that it does not know',
    promise: PAGED,
    breaks: ofDead((healthy) => ({
      list: (query) => healthy.list(query).catch(() => healthy.list()),
    })),
  },
  {
    wrong: 'removes a job each time that it is asked to',
    promise: GONE,
    breaks: ofDead((healthy) => ({ remove: async (id) => (await healthy.remove(id)) || true })),
  },
  {
    wrong: 'hides jobs that are removed, instead of removing them',
    promise: GONE,
    breaks: ofDead((healthy) => {
      const hidden = new Set<string>();
      return {
        remove: async (id) => !hidden.has(id) && hidden.add(id).size > 0,
        async list(query) {
          const page = await healthy.list(query);
          return { ...page, letters: page.letters.filter(({ id }) => !hidden.has(id)) };
        },
      };
    }),
  },
  {
    wrong: 'removes all that has expired at once',
    promise: BATCHES,
    breaks: ofExpired((remove) => (turn) => remove({ ...turn, limit: 1_000 })),
  },
  {
    wrong: 'removes what has not expired',
    promise: BATCHES,
    breaks: ofExpired(
      (remove) => (turn) => remove({ ...turn, before: new Date(turn.before.getTime() + 60_000) }),
    ),
  },
  {
    wrong: 'counts what another process has removed',
    promise: 'removes what has expired once, for two processes that do so at the same time',
    breaks: ofExpired((remove) => async (turn) => (await remove(turn)) ?? turn.limit),
  },
  {
    wrong: 'fails for an id that it can not have',
    promise: 'knows nothing of jobs that are not dead',
    breaks: ofDead((healthy) => ({
      async get(id) {
        if (!/^\d+$/.test(id)) throw new Error('no id');
        return healthy.get(id);
      },
    })),
  },
  {
    wrong: 'runs no job again that died early',
    promise: 'runs a job that died early once more, as any other',
    breaks: ofDead((healthy) => ({ requeue: (id) => healthy.remove(id) })),
  },
  {
    wrong: 'tells two operators that each of them has requeued a job',
    promise: OPERATORS,
    breaks: ofDead((healthy) => ({ requeue: async (id) => (await healthy.requeue(id)) || true })),
  },
];

const LISTED = 'lists jobs that wait, with their deliveries, over many pages';
const WAITED = 'misses no job that waited before, though others are added between two pages';
const RUNS = 'leaves a job that runs, and lets it end';
const withState = (healthy: QueueJobs, state: 'waiting' | 'done'): Partial<QueueJobs> => ({
  async list(query) {
    const page = await healthy.list(query);
    return { ...page, jobs: page.jobs.map((job) => ({ ...job, state })) };
  },
});

export const BROKEN_JOBS: readonly BrokenJobs[] = [
  {
    wrong: 'gives more jobs than asked for',
    promise: LISTED,
    breaks: ofJobs((healthy) => ({ list: ({ cursor } = {}) => healthy.list({ cursor }) })),
  },
  {
    wrong: 'lists the first page alone',
    promise: LISTED,
    breaks: ofJobs((healthy) => ({
      list: async (query) => ({ jobs: (await healthy.list(query)).jobs }),
    })),
  },
  {
    wrong: 'takes jobs that wait for others',
    promise: LISTED,
    breaks: ofJobs((healthy) => withState(healthy, 'done')),
  },
  {
    wrong: 'begins again for a cursor that it does not know',
    promise: LISTED,
    breaks: ofJobs((healthy) => ({
      list: (query) => healthy.list(query).catch(() => healthy.list()),
    })),
  },
  {
    wrong: 'counts the jobs of its pages from the newest',
    promise: WAITED,
    breaks: ofJobs((healthy) => ({
      async list({ cursor = '0', limit = 100 } = {}) {
        const { jobs } = await healthy.list({ limit: 1_000 });
        const [from, all] = [Number(cursor), [...jobs].reverse()];
        const page = { jobs: all.slice(from, from + limit) };
        return from + limit < all.length ? { ...page, cursor: String(from + limit) } : page;
      },
    })),
  },
  {
    wrong: 'erases a job, whatever its state is',
    promise: 'erases a job that waits, which is never run',
    breaks: ofJobs((healthy) => ({ erase: (id) => healthy.erase(id, 'waiting') })),
  },
  {
    wrong: 'erases a job only from its list',
    promise: 'erases a job that waits, which is never run',
    breaks: ofJobs(() => {
      const erased = new Set<string>();
      return {
        async erase(id, state) {
          if (state !== 'waiting' || erased.has(id)) return false;
          return erased.add(id).size > 0;
        },
      };
    }),
  },
  {
    wrong: 'takes jobs that run for jobs that wait',
    promise: RUNS,
    breaks: ofJobs((healthy) => withState(healthy, 'waiting')),
  },
  {
    wrong: 'says that it erases a job that runs',
    promise: RUNS,
    breaks: ofJobs(() => ({ erase: async (_id, state) => state === 'waiting' })),
  },
  {
    wrong: 'erases no dead job',
    promise: 'erases a dead job',
    breaks: ofJobs((healthy) => ({
      erase: async (id, state) => state !== 'dead' && healthy.erase(id, state),
    })),
  },
  {
    wrong: 'forgets no event, and counts it',
    promise: 'forgets an event that was handled, when it is asked to',
    breaks: ofJobs((healthy) => ({
      forget: async (keys) => Math.min(1, (await healthy.list()).jobs.length + keys.length),
    })),
  },
  {
    wrong: 'knows no event that was handled',
    promise: 'keeps no body of a job that was handled, and still knows its event',
    breaks: ({ queue }) => ({
      queue: { ...queue, enqueue: ({ key: _key, ...delivery }) => queue.enqueue(delivery) },
    }),
  },
  ...(['waiting', 'dead', 'done'] as const).map((state): BrokenJobs => ({
    wrong: 'knows an event for ever',
    promise: `runs an event again whose job was forgotten and erased while it was ${state}`,
    breaks({ queue }) {
      const known = new Set<string | undefined>();
      return {
        queue: {
          ...queue,
          async enqueue(delivery) {
            if (!known.has(delivery.key)) await queue.enqueue(delivery);
            known.add(delivery.key);
          },
        },
      };
    },
  })),
  {
    wrong: 'says that it erases what is not there',
    promise: 'knows nothing of other ids',
    breaks: ofJobs(() => ({ erase: async () => true })),
  },
  {
    wrong: 'fails for an id that it can not have',
    promise: 'knows nothing of other ids',
    breaks: ofJobs(() => ({ erase: (id) => Promise.reject(new Error(`no id: ${id}`)) })),
  },
];
