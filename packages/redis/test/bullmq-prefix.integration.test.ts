import { afterEach, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  queuedCall,
  waitFor,
} from '@call-webhooks/contract-tests';
import { Queue, Worker } from 'bullmq';
import { bullmqDeadJobs, bullmqJobs, bullmqQueue, createBullmqWorker } from '../src/index.ts';
import { useRedis } from './use-redis.ts';

const LEASE_MS = 60_000;

describeWithProgram('redis-server', 'two queues of one name, of which one has a prefix', () => {
  const test = useRedis();
  const toClose: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const one of toClose.splice(0)) await one.close();
  });

  /** A queue of that name, and a worker whose handler fails. */
  function open(prefix: string | undefined) {
    const connection = { host: '127.0.0.1', port: test.server.port, socketTimeout: 60_000 };
    const options = prefix === undefined ? {} : { prefix };
    const bullmq = new Queue('calls', { connection, ...options });
    const logger = collectingLogger();
    const queue = bullmqQueue(bullmq, { maxRuns: 1, keepFor: 3_600_000, logger });
    const ran: unknown[] = [];
    const worker = createBullmqWorker({
      ...{ Worker, queueName: 'calls', connection, logger, bullmq: options },
      on: {
        'call:completed'({ callId }) {
          ran.push(callId);
          throw new Error('the CRM is down');
        },
      },
    });
    toClose.push(worker, bullmq);
    /** What a process with this token removes; in a minute, everything has expired. */
    const removeExpired = (token: string, leaseMs = LEASE_MS) =>
      queue.removeExpired!({ before: new Date(Date.now() + 60_000), limit: 5, token, leaseMs });
    return {
      ...{ bullmq, queue, worker, ran, removeExpired, name: `${prefix ?? 'bull'}:calls` },
      dead: bullmqDeadJobs(bullmq),
      jobs: bullmqJobs(bullmq),
    };
  }

  it('share no job, no health and no turn, and leave no key without their prefix', async () => {
    const queues = [open(undefined), open('mine')] as const;
    for (const [at, { queue, worker, ran, dead }] of queues.entries()) {
      await queue.enqueue(queuedCall(`call-${String(at)}`, { key: 'one event' }));
      await waitFor(async () => (await dead.count()) === 1);
      await queue.ping!();
      expect(await worker.health()).toMatchObject({ ok: true });
      expect(ran).toEqual([`call-${String(at)}`]);
    }
    await queues[1].bullmq.pause();
    const paused = await Promise.all(queues.map(({ worker }) => worker.health()));
    expect(paused.map((health) => health.paused === true)).toEqual([false, true]);

    for (const { removeExpired, jobs, dead, name } of queues) {
      expect(await removeExpired('the first process')).toBe(1);
      expect(await removeExpired('another process')).toBeUndefined();
      expect(await removeExpired('the first process')).toBe(0);
      const left = await test.admin.pttl(`${name}:call-webhooks-removal`);
      expect(left).toBeGreaterThan(LEASE_MS - 30_000);
      expect(left).toBeLessThanOrEqual(LEASE_MS);
      expect([await dead.count(), (await jobs.list()).jobs]).toEqual([0, []]);
    }
    // A process that died keeps its turn no longer than its lease.
    expect(await queues[0].removeExpired('the first process', 20)).toBe(0);
    await waitFor(async () => (await queues[0].removeExpired('another process')) === 0);

    const names = queues.map(({ name }) => name);
    const keys = await test.admin.keys('*');
    expect(keys.filter((key) => !names.some((name) => key.startsWith(`${name}:`)))).toEqual([]);
    expect(keys.filter((key) => key.includes('ping'))).toEqual([]);
  });
});
