import type { OpenedQueue, WorkerHandlers } from '../../src/index.ts';
import { arrayQueue } from '../../../core/test/array-queue.ts';

/** A queue that keeps all promises but one. */
export interface BrokenQueue {
  wrong: string;
  promise: string;
  breaks(healthy: OpenedQueue): Partial<OpenedQueue>;
}

/** The queue in an array, or a broken one. */
export function openQueue(
  { maxRuns, concurrency }: { maxRuns: number; concurrency: number },
  breaks: BrokenQueue['breaks'] = () => ({}),
): Promise<OpenedQueue> {
  const healthy = arrayQueue(maxRuns, concurrency);
  return Promise.resolve({ ...healthy, ...breaks(healthy) });
}

const withDelivery = (
  { queue }: OpenedQueue,
  change: (delivery: Parameters<typeof queue.enqueue>[0]) => Parameters<typeof queue.enqueue>[0],
): Partial<OpenedQueue> => ({
  queue: { ...queue, enqueue: (delivery) => queue.enqueue(change(delivery)) },
});

export const BROKEN_QUEUES: readonly BrokenQueue[] = [
  {
    wrong: 'keeps a body as text',
    promise: 'keeps every byte, of large bodies and of bodies that are not text',
    breaks: (healthy) =>
      withDelivery(healthy, (delivery) => {
        const text = Buffer.from(delivery.body, 'base64').toString();
        return { ...delivery, body: Buffer.from(text).toString('base64') };
      }),
  },
  {
    wrong: 'adds a byte to a body',
    promise: 'keeps every byte, of large bodies and of bodies that are not text',
    breaks: (healthy) =>
      withDelivery(healthy, (delivery) => {
        const longer = Buffer.concat([Buffer.from(delivery.body, 'base64'), Buffer.from('\n')]);
        return { ...delivery, body: longer.toString('base64') };
      }),
  },
  {
    wrong: 'forgets the trace',
    promise: 'brings the trace context to the worker',
    breaks: (healthy) => withDelivery(healthy, ({ trace: _trace, ...delivery }) => delivery),
  },
  {
    wrong: 'forgets the tenant',
    promise: 'runs each delivery that has no key, and each of two tenants',
    breaks: (healthy) => withDelivery(healthy, ({ tenant: _tenant, ...delivery }) => delivery),
  },
  {
    wrong: 'queues an event each time that it comes',
    promise: 'runs an event once, however often it is put in: before, while and after it runs',
    breaks: (healthy) => withDelivery(healthy, ({ key: _key, ...delivery }) => delivery),
  },
  {
    wrong: 'takes a job for done before it has ended',
    promise:
      'closes a worker gracefully: the running job ends, nothing new begins, the rest waits for another',
    breaks: (healthy) => ({
      async startWorker(handlers: WorkerHandlers) {
        await healthy.startWorker(handlers);
        return { close: async () => undefined };
      },
    }),
  },
  {
    wrong: 'keeps no dead jobs',
    promise:
      'hands a job that fails in its last attempt to deadLetter, and keeps it among its own dead jobs',
    breaks: () => ({ deadLetters: async () => [] }),
  },
];
