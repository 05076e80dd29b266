import type { OpenedQueue } from '@call-webhooks/store-tests';
import type { QueuedDelivery } from '../src/index.ts';
import { createJobProcessor, tenantKey } from '../src/stores.ts';

interface Entry {
  delivery: QueuedDelivery;
  attempt: number;
  abandonReason?: Error;
}

/** The smallest engine that keeps a queue's promises while the process lives: it tests the contract tests. */
export function arrayQueue(maxRuns: number, concurrency: number): OpenedQueue {
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
        const id = delivery.key ?? tenantKey(delivery.tenant, delivery.webhookId);
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
      const process = createJobProcessor({ ...handlers, maxRuns });
      const running = new Set<Promise<void>>();
      const take = () => {
        while (running.size < concurrency) {
          const entry = waiting.shift();
          if (!entry) return;
          const { delivery, attempt, abandonReason } = entry;
          const run = process(delivery, { attempt, abandonReason })
            .then((result) => {
              if (result.status === 'dead') dead.push(delivery);
              if (result.status !== 'retry') return;
              const reason = result.abandonReason;
              const again = reason === undefined ? {} : { abandonReason: new Error(reason) };
              waiting.push({ delivery, attempt: attempt + 1, ...again });
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
