import type { QueuedDelivery } from '@call-webhooks/core';
import { bullmqDeadJobs, bullmqQueue, createBullmqWorker, redisStore } from '@call-webhooks/redis';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { monotonicMs, type Journal } from '../journal.ts';
import { CONCURRENCY, LEASE_MS, QUEUE_ATTEMPTS, type Engine } from './engine.ts';

const NAME = 'calls';
const nothing = () => undefined;

export const redis: Engine = {
  store(url) {
    const client = new Redis(url, { retryStrategy: () => 50 });
    client.on('error', nothing);
    return Promise.resolve(redisStore(client, { logger: { warn: nothing, error: nothing } }));
  },
  queue(url) {
    return Promise.resolve(bullmqQueue(openQueue(url), { maxRuns: QUEUE_ATTEMPTS }));
  },
  deadJobs(url) {
    return Promise.resolve(bullmqDeadJobs(openQueue(url)));
  },
  state(url) {
    const queue = openQueue(url);
    const client = new Redis(url);
    client.on('error', nothing);
    return Promise.resolve({
      stats: () => queue.getJobCounts(),
      async rows(key) {
        const jobs = (await queue.getJobs()).filter(
          ({ data }) => (data as QueuedDelivery).key === key,
        );
        const found = await client.keys(`*${key}*`);
        return [
          ...jobs.map((job) => ({ ...(job.asJSON() as object), data: undefined })),
          ...(await Promise.all(
            found.map(async (name) => ({
              name,
              value: await client.hgetall(name).catch(() => client.get(name)),
              expiresInMs: await client.pttl(name),
            })),
          )),
        ];
      },
    });
  },
  startWorker(url, handlers, journal) {
    const { worker } = createBullmqWorker<Worker>({
      Worker,
      queueName: NAME,
      connection: { url, retryStrategy: () => 50 },
      concurrency: CONCURRENCY,
      backoff: { initialDelay: 50, maxDelay: 300 },
      // BullMQ renews a lock when half of it has passed, others at a third.
      bullmq: { lockDuration: 2 * LEASE_MS, stalledInterval: LEASE_MS / 3 },
      ...handlers,
    });
    journalRenewals(worker, journal);
    return Promise.resolve();
  },
};

/** BullMQ tells of a renewal when its answer has arrived, so the renewal before it is the earliest that it can be. */
function journalRenewals(worker: Worker, journal: Journal): void {
  const running = new Map<string, { key: string; attempt: number; at: number }>();
  const write = (ids: readonly string[], held: boolean) => {
    for (const id of ids) {
      const job = running.get(id);
      if (!job) continue;
      const until = monotonicMs();
      journal.write({ kind: 'job-renewed', ...job, until, held });
      job.at = until;
    }
  };
  worker.on('active', ({ id = '', data, attemptsStarted: attempt }) => {
    const { key = '' } = data as QueuedDelivery;
    running.set(id, { key, attempt, at: monotonicMs() });
  });
  for (const end of ['completed', 'failed'] as const)
    worker.on(end, (job: { id?: string } | undefined) => running.delete(job?.id ?? ''));
  worker.on('locksRenewed', ({ jobIds }) => {
    write(jobIds, true);
  });
  worker.on('lockRenewalFailed', (jobIds) => {
    write(jobIds, false);
  });
}

function openQueue(url: string): Queue {
  const connection = { url, enableOfflineQueue: false, retryStrategy: () => 50 };
  const queue = new Queue(NAME, { connection });
  queue.on('error', nothing);
  return queue;
}
