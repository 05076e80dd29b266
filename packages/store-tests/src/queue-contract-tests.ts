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
  type QueueTestContext,
  type QueueFeature,
  type QueueUnderTest,
} from './queue/under-test.ts';
import { workerHealth } from './queue/worker-health.ts';
import { testsOf, type TestRunner, type Tests } from './runner.ts';
import type { Effects } from './store/under-test.ts';
import { waitFor } from './wait-for.ts';

/** Registers the tests that every queue and its worker have to pass. */
export function queueContractTests(runner: TestRunner, subject: QueueUnderTest): void {
  const tests = testsOf(runner);
  tests.describe(`${subject.name}: queue contract tests`, () => {
    const context = contextOf(tests, subject);
    const lacks = (feature: QueueFeature) => subject.lacks?.includes(feature) === true;
    handOver(context);
    if (!lacks('deduplication')) deduplication(context);
    failures(context, { keepsReason: !lacks('failure-reason') });
    if (!lacks('shutdown')) shutdown(context);
    if (!lacks('worker-health')) workerHealth(context);
    if (!lacks('refusals')) queueIsReady(context);
  });
}

/** Registers the tests that a worker with `completeIn` has to pass in the transactions of a client. */
export function completeJobContractTests(
  runner: TestRunner,
  subject: QueueUnderTest<OpenedQueue & Effects>,
): void {
  const tests = testsOf(runner);
  tests.describe(`${subject.name}: contract tests of completeIn`, () => {
    transactions(contextOf(tests, subject));
  });
}

/** @internal What a group of tests works with. */
export function contextOf<Opened extends OpenedQueue>(
  tests: Tests,
  subject: QueueUnderTest<Opened>,
): QueueTestContext<Opened> {
  return {
    it: tests.it,
    open: opening(tests, (options) => subject.open(options)),
    waitFor: (condition) => waitFor(condition, { within: subject.within }),
  };
}

/** Opens a queue in a test, and closes it and its workers after the test. */
function opening<Opened extends OpenedQueue>(
  { afterEach }: Tests,
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
