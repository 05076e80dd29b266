import { afterEach, describe } from '@jest/globals';
import { collectingLogger } from './collecting-logger.ts';
import { failures } from './queue/failures.ts';
import { handOver } from './queue/hand-over.ts';
import { shutdown } from './queue/shutdown.ts';
import { MAX_ATTEMPTS, type OpenQueue, type QueueUnderTest } from './queue/under-test.ts';

/** What every queue and its worker must do. */
export function queueContractTests(subject: QueueUnderTest): void {
  describe(`${subject.name}: queue contract tests`, () => {
    const toClose: (() => Promise<void>)[] = [];
    afterEach(async () => {
      // The workers first, then the queue.
      for (const close of toClose.splice(0).reverse()) await close();
    });

    const open: OpenQueue = async ({ maxAttempts = MAX_ATTEMPTS, concurrency = 4 } = {}) => {
      const opened = await subject.open({ maxAttempts, concurrency });
      toClose.push(() => opened.close());
      return {
        queue: opened.queue,
        deadLetters: () => opened.deadLetters(),
        async startWorker(handlers) {
          const worker = await opened.startWorker({ logger: collectingLogger(), ...handlers });
          let closing: Promise<void> | undefined;
          const close = () => (closing ??= worker.close());
          toClose.push(close);
          return { close };
        },
      };
    };

    handOver(open);
    failures(open);
    shutdown(open);
  });
}
