import { afterEach, describe } from '@jest/globals';
import { collectingLogger } from './collecting-logger.ts';
import { deduplication } from './queue/deduplication.ts';
import { failures } from './queue/failures.ts';
import { handOver } from './queue/hand-over.ts';
import { queueIsReady } from './queue/ready.ts';
import { shutdown } from './queue/shutdown.ts';
import { transactions } from './queue/transactions.ts';
import {
  MAX_ATTEMPTS,
  type OpenedQueue,
  type OpenQueue,
  type QueueFeature,
  type QueueUnderTest,
} from './queue/under-test.ts';
import { workerHealth } from './queue/worker-health.ts';
import type { Effects } from './store/under-test.ts';

/** What every queue and its worker must do. */
export function queueContractTests(subject: QueueUnderTest): void {
  describe(`${subject.name}: queue contract tests`, () => {
    const open = opening((options) => subject.open(options));
    const lacks = (feature: QueueFeature) => subject.lacks?.includes(feature) === true;
    handOver(open);
    if (!lacks('deduplication')) deduplication(open);
    failures(open, { keepsReason: !lacks('failure-reason') });
    if (!lacks('shutdown')) shutdown(open);
    if (!lacks('worker-health')) workerHealth(open);
    if (!lacks('refusals')) queueIsReady(open);
  });
}

/** What a worker with `completeIn` must do in the transactions of a client. */
export function completeJobContractTests(subject: QueueUnderTest<OpenedQueue & Effects>): void {
  describe(`${subject.name}: contract tests of completeIn`, () => {
    transactions(opening((options) => subject.open(options)));
  });
}

/** @internal Opens a queue in a test, and closes it and its workers after the test. */
export function opening<Opened extends OpenedQueue>(
  open: QueueUnderTest<Opened>['open'],
): OpenQueue<Opened> {
  const toClose: (() => Promise<void>)[] = [];
  afterEach(async () => {
    // The workers first, then the queue.
    for (const close of toClose.splice(0).reverse()) await close();
  });

  return async ({ maxRuns = MAX_ATTEMPTS, concurrency = 4 } = {}) => {
    const opened = await open({ maxRuns, concurrency });
    toClose.push(() => opened.close());
    return {
      ...opened,
      async startWorker(handlers) {
        const worker = await opened.startWorker({ logger: collectingLogger(), ...handlers });
        let closing: Promise<void> | undefined;
        const close = () => (closing ??= worker.close());
        toClose.push(close);
        return { close, ...(worker.health && { health: () => worker.health!() }) };
      },
    };
  };
}
