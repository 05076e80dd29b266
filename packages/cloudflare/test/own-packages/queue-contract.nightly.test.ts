import * as runner from '@jest/globals';
import { queueContractTests } from '@call-webhooks/store-tests';
import { createQueueConsumer } from '../../src/index.ts';
import { startQueueBridge } from './queue-bridge.ts';

queueContractTests(runner, {
  name: 'cloudflareQueue in workerd',
  lacks: ['deduplication', 'shutdown', 'worker-health', 'refusals'],
  async open({ maxRuns, concurrency }) {
    const { queue, dead, deadQueue, largeBodies, consume, close } = await startQueueBridge();
    return {
      queue,
      startWorker(handlers) {
        consume(
          createQueueConsumer(() => ({
            ...handlers,
            deadQueue,
            largeBodies,
            concurrency,
            maxRuns: Math.min(100, maxRuns), // the most that Cloudflare allows
            backoff: { initialDelay: 0, maxDelay: 0 },
          })),
        );
        return Promise.resolve({ close: () => Promise.resolve() });
      },
      deadLetters: () => Promise.resolve([...dead]),
      close,
    };
  },
});
