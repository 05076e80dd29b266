import type { WorkerHealth } from '@call-webhooks/core';
import type { StartedWorker, WorkerHandlers } from '../../src/index.ts';
import type { BrokenJobs, OpenedJobs } from './jobs.ts';

const ofHealth =
  (change: (health: WorkerHealth, handlers: WorkerHandlers) => WorkerHealth) =>
  ({ startWorker }: OpenedJobs): Partial<OpenedJobs> => ({
    async startWorker(handlers) {
      const worker = await startWorker(handlers);
      const health = async () => change(await worker.health!(), handlers);
      return { close: () => worker.close(), health } satisfies StartedWorker;
    },
  });

const WELL = 'says that a worker is well, what it runs, and when it ran a job last';
const CLOSED = 'is ready until it is closed';
const REFUSED =
  'is not ready while it still answers reads but would refuse a delivery, and neither is its worker';

export const BROKEN_WORKERS: readonly BrokenJobs[] = [
  {
    wrong: 'is never well',
    promise: WELL,
    breaks: ofHealth((health) => ({ ...health, ok: false })),
  },
  {
    wrong: 'counts no job that runs',
    promise: WELL,
    breaks: ofHealth((health) => ({ ...health, running: 0 })),
  },
  {
    wrong: 'says of a job before it has ended that it ran',
    promise: WELL,
    breaks: ofHealth((health) => ({ ...health, lastJobAt: new Date(0) })),
  },
  {
    wrong: 'is ready after it was closed',
    promise: CLOSED,
    breaks: ofHealth((health) => ({ ...health, ok: true, closing: false })),
  },
  {
    wrong: 'is well while its server refuses what it writes',
    promise: REFUSED,
    breaks: ofHealth((health) => ({ ...health, ok: true })),
  },
  {
    wrong: 'has a queue that is healthy while it can be read',
    promise: REFUSED,
    breaks: ({ queue }) => ({ queue: { ...queue, ping: async () => 'pong' } }),
  },
  {
    wrong: 'has no health',
    promise: CLOSED,
    breaks: ({ startWorker }) => ({
      startWorker: async (handlers) => {
        const worker = await startWorker(handlers);
        return { close: () => worker.close() };
      },
    }),
  },
];

/** Workers whose `completeIn` is not what it should be. */
const ofCompletion =
  (change: (completeIn: (tx: unknown) => Promise<void>) => (tx: unknown) => Promise<void>) =>
  ({ startWorker }: OpenedJobs): Partial<OpenedJobs> => ({
    startWorker({ on = {}, ...handlers }) {
      const handle = on['call:completed'];
      return startWorker({
        ...handlers,
        on: {
          'call:completed': (event, context) =>
            handle?.(event, { ...context, completeIn: change((tx) => context.completeIn(tx)) }),
        },
      });
    },
  });

/** Commits what its user rolls back. */
const committing = ({ transact }: OpenedJobs): Partial<OpenedJobs> => ({
  async transact(work) {
    let failure: unknown;
    await transact(async (transaction) => {
      await work(transaction).catch((error: unknown) => (failure = error));
    });
    if (failure !== undefined) throw failure as Error;
  },
});

export const BROKEN_COMPLETIONS: readonly BrokenJobs[] = [
  {
    wrong: 'completes a job once in a transaction',
    promise: 'completes the job together with the effect',
    breaks: ofCompletion((completeIn) => {
      let isDone = false;
      return async (tx) => {
        if (isDone) throw new Error('It is completed already.');
        await completeIn(tx);
        isDone = true;
      };
    }),
  },
  ...[
    'runs it again after a rollback (ignored: true)',
    'runs it again after a rollback (ignored: false)',
    'keeps a dead letter when the last attempt is rolled back',
  ].map((promise) => ({
    wrong: 'completes a job though its transaction is rolled back',
    promise,
    breaks: committing,
  })),
  {
    wrong: 'takes anything for a transaction',
    promise:
      'refuses anything that is not a transaction, also the client that begins them, and runs the job again',
    breaks: ofCompletion((completeIn) => async (tx) => {
      try {
        await completeIn(tx);
      } catch {
        // as if it had been one
      }
    }),
  },
  {
    wrong: 'completes no job, which is then run again where its handler fails after the commit',
    promise:
      'does not run it again when its handler fails after the commit, in the last attempt as well',
    breaks: ofCompletion(() => async () => undefined),
  },
];
