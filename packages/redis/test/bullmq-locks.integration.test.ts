import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  deferred,
  describeWithProgram,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import type { HandlerContext } from '@call-webhooks/core';
import { Redis } from 'ioredis';
import { bullmqQueue } from '../src/index.ts';
import { deliverer } from './deliverer.ts';
import { LOCK_DURATION, useBullmq } from './use-bullmq.ts';

describeWithProgram('redis-server', 'BullMQ jobs that lose their lock', () => {
  let admin: Redis;
  const endAll: (() => void)[] = [];
  afterEach(() => {
    for (const end of endAll.splice(0)) end();
  });
  afterAll(() => admin.disconnect());
  const { test, work } = useBullmq(); // closes workers and the server after these
  beforeAll(() => {
    admin = new Redis(test.server.port, '127.0.0.1');
  });

  const lockKey = async () => {
    const [job] = await test.queue.getActive();
    return `bull:${test.queue.name}:${String(job?.id)}:lock`;
  };

  /** Waits until a lock was renewed a few times: longer than it lasts by itself. */
  async function renewed(key: string): Promise<void> {
    let left = 0;
    let times = 0;
    await waitFor(
      async () => {
        const now = await admin.pttl(key);
        if (now > left) times += 1;
        left = now;
        return times > 6; // every third of its duration
      },
      { every: 5, what: 'the lock is renewed' },
    );
  }

  /** A handler that ends its runs when it is told to, and does not listen to its signal. */
  function deafHandler() {
    const runs: { context: HandlerContext; end: () => void }[] = [];
    let running = 0;
    let mostAtOnce = 0;
    const handlers = {
      on: {
        async 'call:completed'(_event: unknown, context: HandlerContext) {
          const ended = deferred();
          runs.push({ context, end: ended.resolve });
          endAll.push(ended.resolve);
          running += 1;
          mostAtOnce = Math.max(mostAtOnce, running);
          await ended.promise;
          running -= 1;
        },
      },
    };
    return { runs, handlers, mostAtOnce: () => mostAtOnce };
  }

  /** There were two runs: the first attempt, and one that counts those that waited in between. */
  function expectAttempts(runs: readonly { context: HandlerContext }[], second: number): void {
    const [first, last, ...others] = runs.map(({ context }) => context.attempt);
    expect([first, others]).toEqual([1, []]);
    expect(last).toBeGreaterThanOrEqual(second);
  }

  /** Loses a lock. @returns once a run of the job holds a lock again */
  async function loseLock(key: string): Promise<void> {
    await admin.del(key);
    // A lost lock can't be renewed. Its token may come back: BullMQ uses it for the next job.
    await waitFor(async () => (await admin.exists(key)) === 1, { every: 5 });
  }

  it('are not run beside themselves in one process, and the lock of the second run is kept', async () => {
    const { runs, handlers, mostAtOnce } = deafHandler();
    await test.receiver.deliver(unique('call'));
    work(handlers);
    await waitFor(() => runs.length === 1);
    const key = await lockKey();
    await loseLock(key);
    await renewed(key); // while the second run waits
    expect(runs[0]?.context.signal.aborted).toBe(true);
    expect(runs).toHaveLength(1);

    runs[0]?.end();
    await waitFor(() => runs.length === 2);
    await renewed(key); // while it runs, after the first one ended
    expect(runs[1]?.context.signal.aborted).toBe(false);
    runs[1]?.end();
    await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
    // A busy machine may lose the lock of the waiting run too, and each of them counts.
    expectAttempts(runs, 2);
    expect(mostAtOnce()).toBe(1);
  });

  it('wait for every earlier run', async () => {
    const { runs, handlers, mostAtOnce } = deafHandler();
    await test.receiver.deliver(unique('call'));
    work(handlers);
    await waitFor(() => runs.length === 1);
    const key = await lockKey();
    await loseLock(key);
    await loseLock(key); // of the run that waits
    await renewed(key);
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    await waitFor(() => runs.length === 2);
    runs[1]?.end();
    await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
    expectAttempts(runs, 3);
    expect(mostAtOnce()).toBe(1);
  });

  it('are given back at once when the worker closes while the second run waits', async () => {
    const { runs, handlers } = deafHandler();
    await test.receiver.deliver(unique('call'));
    const first = work(handlers);
    await waitFor(() => runs.length === 1);
    const key = await lockKey();
    await loseLock(key);
    await renewed(key);
    await first.close({ graceMs: 0 });
    expect(await test.queue.getActiveCount()).toBe(0);

    const other = deafHandler();
    work(other.handlers);
    await waitFor(() => other.runs.length === 1);
    other.runs[0]?.end();
    await waitFor(async () => (await test.queue.getCompletedCount()) === 1);
    runs[0]?.end();
  });

  it('are aborted by the loss alone, with a line', async () => {
    const { runs, handlers } = deafHandler();
    const logger = collectingLogger();
    await test.receiver.deliver(unique('call'));
    // Nobody takes the job over.
    work(handlers, { bullmq: { lockDuration: LOCK_DURATION, stalledInterval: 60_000 }, logger });
    await waitFor(() => runs.length === 1);
    await admin.del(await lockKey());
    await waitFor(() => runs[0]?.context.signal.aborted === true);
    expect(logger.lines).toEqual([expect.stringMatching(/lost its lock.*jobId: 'event-/)]);
    runs[0]?.end();
  });

  it('get no note from a run that lost its lock, after another worker ended them', async () => {
    const callId = unique('call');
    const receiver = deliverer({ queue: bullmqQueue(test.queue, { maxRuns: 1 }) });
    const on = { 'call:completed': () => Promise.reject(new Error('the CRM is down')) };
    const [sinkCalled, sinkEnds] = [deferred(), deferred()];
    endAll.push(sinkEnds.resolve);
    const deadLetter = async () => {
      sinkCalled.resolve();
      await sinkEnds.promise;
      throw new Error('the sink is down');
    };
    const first = work({ on, deadLetter }, { concurrency: 1 });
    await receiver.deliver(callId);
    await sinkCalled.promise;
    await admin.del(await lockKey());
    const second = work({ on, deadLetter: () => undefined });
    await waitFor(async () => (await test.queue.getFailedCount()) === 1);
    await second.close();

    sinkEnds.resolve();
    await first.close();
    const [failed] = await test.queue.getFailed();
    expect(failed?.data).not.toHaveProperty('workerNote');
    // So the handler runs again when the job is retried by hand.
    const handled = deferred<string>();
    work({ on: { 'call:completed': (event) => handled.resolve(String(event.callId)) } });
    await failed?.retry();
    expect(await handled.promise).toBe(callId);
    await receiver.close();
  });

  it('are left to another worker when the worker was closed, though the first run goes on', async () => {
    const { runs, handlers } = deafHandler();
    await test.receiver.deliver(unique('call'));
    const connection = new Redis(test.server.port, '127.0.0.1', { maxRetriesPerRequest: null });
    const first = work(handlers, { connection }); // which stays open
    await waitFor(() => runs.length === 1);
    await first.close({ graceMs: 0 });
    const other = deafHandler();
    work(other.handlers);
    await waitFor(() => other.runs.length === 1);
    connection.disconnect();
  });
});
