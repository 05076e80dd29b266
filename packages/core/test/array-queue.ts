import type { OpenedQueue } from '@call-webhooks/contract-tests';
import { createWorkerHandler, type QueuedDelivery } from '../src/index.ts';

interface Entry {
  delivery: QueuedDelivery;
  attempt: number;
}

/** The smallest engine that keeps a queue's promises while the process lives: it tests the contract tests. */
export function arrayQueue(maxAttempts: number, concurrency: number): OpenedQueue {
  const waiting: Entry[] = [];
  const dead: QueuedDelivery[] = [];
  const known = new Set<string>();
  const wakers = new Set<() => void>();
  const wake = () => {
    for (const waker of wakers) waker();
  };
  return {
    queue: {
      enqueue(delivery) {
        const id = delivery.key ?? delivery.webhookId;
        if (!known.has(id)) waiting.push({ delivery, attempt: 1 });
        known.add(id);
        wake();
        return Promise.resolve();
      },
      ping: () => Promise.resolve(),
    },
    deadLetters: () => Promise.resolve(dead),
    close: () => Promise.resolve(),
    startWorker(handlers) {
      const handle = createWorkerHandler({ ...handlers, maxAttempts });
      const running = new Set<Promise<void>>();
      const take = () => {
        while (running.size < concurrency) {
          const entry = waiting.shift();
          if (!entry) return;
          const run = handle(entry.delivery, { attempt: entry.attempt })
            .catch((error: unknown) => {
              const poison = (error as { code: string }).code === 'invalid-payload';
              if (poison || entry.attempt === maxAttempts) dead.push(entry.delivery);
              else waiting.push({ ...entry, attempt: entry.attempt + 1 });
            })
            .finally(() => {
              running.delete(run);
              setTimeout(wake, 2);
            });
          running.add(run);
        }
      };
      wakers.add(take);
      take();
      return Promise.resolve({
        async close() {
          wakers.delete(take);
          await Promise.all(running);
        },
      });
    },
  };
}
