import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import type { CallCompletedEvent } from '@call-webhooks/core';
import { collectingLogger, deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { queueContractTests } from '@call-webhooks/store-tests';
import { createPgBossWorker, pgBossQueue } from '../src/index.ts';
import { withPostgres } from './support.ts';
import { deleteAllJobs, expireJobs, isPgBoss10 } from './pg-boss-version.ts';
import { usePgBoss } from './use-pg-boss.ts';

withPostgres('pgBossQueue', () => {
  const { test, work, jobs } = usePgBoss();
  let count = 0;

  queueContractTests(runner, {
    name: 'pgBossQueue',
    lacks: ['refusals'],
    async open({ maxRuns, concurrency }) {
      const name = `calls-${String(++count)}`;
      const queue = pgBossQueue(test.boss, {
        queue: name,
        maxRuns,
        backoff: { initialDelay: 0 },
      });
      await queue.migrate();
      return {
        queue,
        startWorker: (handlers) =>
          Promise.resolve(
            createPgBossWorker(test.boss, { ...handlers, queue: name, concurrency, pollEvery: 20 }),
          ),
        deadLetters: async () => (await jobs(`${name}-dead`)).map(({ data }) => data),
        close: () => Promise.resolve(),
      };
    },
  });

  it('never takes a missing queue for a duplicate', async () => {
    const queue = pgBossQueue(test.boss, { queue: 'gone' });
    await queue.enqueue(queuedCall('call-1'));
    await queue.enqueue(queuedCall('call-1'));
    await deleteAllJobs(test.boss);
    await test.boss.deleteQueue('gone');
    await expect(queue.enqueue(queuedCall('call-2'))).rejects.toThrow(
      isPgBoss10 ? 'did not accept the job' : 'does not exist',
    );
    await expect(queue.enqueue(queuedCall('call-2'))).resolves.toBeUndefined(); // made again
  });

  it('is ready only if the queue for dead jobs is there too, and makes that again', async () => {
    const queue = pgBossQueue(test.boss, { queue: 'halved' });
    await queue.migrate();
    await test.boss.deleteQueue('halved-dead');
    await queue.ping?.();
    expect(await test.boss.getQueue('halved-dead')).toBeTruthy();
    await expect(queue.enqueue(queuedCall('call-1'))).resolves.toBeUndefined();
  });

  it('makes its queues from several machines at once', async () => {
    const queues = [1, 2, 3].map(() => pgBossQueue(test.boss, { queue: 'raced' }));
    await Promise.all(queues.map((queue) => queue.migrate()));
    expect(await test.boss.getQueue('raced-dead')).not.toBeNull();
  });

  it('runs the job of a worker that died again, under a higher attempt', async () => {
    const queue = pgBossQueue(test.boss, {
      queue: 'died',
      expireIn: 1_000,
      backoff: { initialDelay: 0 },
    });
    await queue.enqueue(queuedCall('call-1'));
    expect(await test.boss.fetch('died')).toHaveLength(1); // and never settled
    const attempts: number[] = [];
    work('died', {
      on: { 'call:completed': (_event, { attempt }) => void attempts.push(attempt) },
    });
    await waitFor(async () => {
      await expireJobs(test.boss);
      return attempts.length > 0;
    });
    expect(attempts).toEqual([2]);
  });

  it('settles what it ran when Postgres was killed, once that is back; runs nothing twice, and takes new jobs', async () => {
    const queue = pgBossQueue(test.boss, { queue: 'outage' });
    await queue.migrate();
    const started = deferred();
    const go = deferred();
    const runs: string[] = [];
    const logger = collectingLogger();
    const on = {
      'call:completed': async ({ callId }: CallCompletedEvent) => {
        runs.push(String(callId));
        started.resolve();
        await go.promise;
      },
    };
    work('outage', { on }, logger);
    await queue.enqueue(queuedCall('call-1'));
    await started.promise;
    await test.server.kill();
    go.resolve();
    await expect(queue.enqueue(queuedCall('call-2'))).rejects.toThrow();
    await expect(queue.ping!()).rejects.toThrow();
    await test.server.start();
    await queue.enqueue(queuedCall('call-2'));
    const states = async () => (await jobs('outage')).map(({ state }) => state);
    await waitFor(async () => (await states()).join() === 'completed,completed');
    expect(runs).toEqual(['call-1', 'call-2']);
    // Where Postgres is down, a fetch of pg-boss 10 finds no jobs, and one of pg-boss 12 fails.
    const said = isPgBoss10 ? [] : [expect.stringContaining('pg-boss is failing')];
    expect(logger.lines).toEqual(said);
  });

  it('closes a worker in time though Postgres is frozen, and aborts its handlers', async () => {
    const queue = pgBossQueue(test.boss, { queue: 'frozen' });
    const started = deferred<AbortSignal>();
    const hang = deferred();
    const worker = work('frozen', {
      on: {
        'call:completed': (_event, { signal }) => {
          started.resolve(signal);
          return hang.promise;
        },
      },
    });
    await queue.enqueue(queuedCall('call-1'));
    const signal = await started.promise;
    test.server.freeze();
    try {
      const from = performance.now();
      await worker.close({ graceMs: 200 });
      expect(performance.now() - from).toBeLessThan(15_000); // 2 s, and time for a slow machine
      expect(signal.aborted).toBe(true);
    } finally {
      test.server.thaw();
      hang.resolve();
    }
  });
});
