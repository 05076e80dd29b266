import type { OpenedQueue, WorkerHandlers } from '../../src/index.ts';
import type { BrokenQueue } from './queues.ts';

type Enqueue = OpenedQueue['queue']['enqueue'];

const withQueue = (
  { queue }: OpenedQueue,
  change: (delivery: Parameters<Enqueue>[0]) => Parameters<Enqueue>[0],
): Partial<OpenedQueue> => ({
  queue: { ...queue, enqueue: (delivery) => queue.enqueue(change(delivery)) },
});

const withHandlers = (
  { startWorker }: OpenedQueue,
  change: (handlers: WorkerHandlers) => WorkerHandlers,
): Partial<OpenedQueue> => ({ startWorker: (handlers) => startWorker(change(handlers)) });

/** Queues that are wrong about what was in them before, and about failures. */
export const FAILING_QUEUES: readonly BrokenQueue[] = [
  {
    wrong: 'queues an event each time that it comes at once',
    promise: 'runs each of 60 events once, put in three times at once each, with two workers',
    breaks: (healthy) => withQueue(healthy, ({ key: _key, ...delivery }) => delivery),
  },
  {
    wrong: 'takes keys for the same that differ by case',
    promise: 'accepts any keys and event names, and tells them apart',
    breaks: (healthy) =>
      withQueue(healthy, ({ key, ...delivery }) => ({
        ...delivery,
        ...(key !== undefined && { key: key.toLowerCase() }),
      })),
  },
  {
    wrong: 'forgets an event that is dead',
    promise: 'does not run a dead event again when a late duplicate arrives',
    breaks({ queue, deadLetters }) {
      const enqueue: Enqueue = async (delivery) => {
        const { key, ...withoutKey } = delivery;
        const isDead = (await deadLetters()).some((dead) => dead.key === key);
        return queue.enqueue(isDead ? withoutKey : delivery);
      };
      return { queue: { ...queue, enqueue } };
    },
  },
  {
    wrong: 'counts each run as the first one',
    promise: 'runs a failed job again, and counts the attempts',
    breaks: (healthy) =>
      withHandlers(healthy, ({ on = {}, ...handlers }) => ({
        ...handlers,
        on: {
          'call:completed': (event, context) =>
            on['call:completed']?.(event, { ...context, attempt: 1 }),
        },
      })),
  },
  {
    wrong: 'loses what has no valid payload',
    promise: 'gives up on an invalid payload at once, and asks a deadLetter sink that failed again',
    breaks: ({ deadLetters }) => ({
      deadLetters: async () => (await deadLetters()).filter(({ key }) => key !== undefined),
    }),
  },
  {
    wrong: 'gives a job up though deadLetter failed',
    promise:
      'does not give a job up while deadLetter fails: it is called again, and the handler is not',
    breaks: (healthy) =>
      withHandlers(healthy, ({ deadLetter, ...handlers }) => ({
        ...handlers,
        async deadLetter(letter, ...more) {
          try {
            if (typeof deadLetter === 'function') await deadLetter(letter, ...more);
          } catch {
            // given up
          }
        },
      })),
  },
  {
    wrong: 'gives a delivery the time of its run',
    promise:
      'runs the typed handler with the delivery as it was, and a context that says it was queued',
    breaks: (healthy) =>
      withQueue(healthy, (delivery) => ({ ...delivery, timestamp: delivery.timestamp + 1 })),
  },
  {
    wrong: 'replaces what a database refuses in a webhook id',
    promise: 'keeps a delivery and an error message, whatever characters are in them',
    breaks: (healthy) =>
      withQueue(healthy, (delivery) => ({
        ...delivery,
        webhookId: delivery.webhookId.replaceAll(/[\0\ud800-\udfff]/g, '\ufffd'),
      })),
  },
  {
    wrong: 'does not answer',
    promise: 'says that it answers',
    breaks: ({ queue }) => ({
      queue: { ...queue, ping: () => Promise.reject(new Error('down')) },
    }),
  },
];
