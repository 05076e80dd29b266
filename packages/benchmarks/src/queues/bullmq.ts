import { Queue, Worker } from 'bullmq';
import { importPackage } from '../checkout.ts';
import { startRedis } from '../stores/servers.ts';
import { CONCURRENCY, type Backend, type Which } from './backend.ts';

/** BullMQ on a Redis that syncs its append-only file before it answers. */
export async function openBullmq(root: string): Promise<Backend> {
  const { bullmqQueue, createBullmqWorker } = await importPackage<
    typeof import('@call-webhooks/redis')
  >(root, 'redis');
  const server = await startRedis({ durable: true });
  const connection = { host: '127.0.0.1', port: server.port };
  const queues = {
    ours: new Queue('ours', { connection }),
    bare: new Queue('bare', { connection }),
  };
  for (const queue of Object.values(queues)) queue.on('error', () => undefined); // the server stops first
  const queue = bullmqQueue(queues.ours);

  return {
    queue,
    addBare: (delivery) => queues.bare.add('call:completed', delivery),
    startWorker(which, onRun) {
      if (which === 'ours')
        return createBullmqWorker({
          ...{ Worker, connection, queueName: 'ours', concurrency: CONCURRENCY },
          on: { 'call:completed': onRun },
        });
      const run = () => {
        onRun();
        return Promise.resolve();
      };
      return new Worker('bare', run, { connection, concurrency: CONCURRENCY });
    },
    openJobs: (which: Which) => queues[which].getJobCountByTypes('waiting', 'active', 'delayed'),
    async clear() {
      for (const each of Object.values(queues)) {
        await each.drain(true);
        await each.clean(0, 0, 'completed');
      }
    },
    async stop() {
      for (const each of Object.values(queues)) await each.close();
      await server.stop();
    },
  };
}
