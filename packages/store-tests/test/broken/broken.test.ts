import { describe, expect, it } from '@jest/globals';
import {
  completeInContractTests,
  deadLettersContractTests,
  queueContractTests,
  storeContractTests,
  type TestRunner,
} from '../../src/index.ts';
import { failuresOf } from '../collect.ts';
import { BROKEN_DEAD_LETTERS, openDeadLetters } from './dead-letters.ts';
import { BROKEN_QUEUES, openQueue } from './queues.ts';
import { BROKEN_STORES, openStore } from './stores.ts';
import { BROKEN_TRANSACTIONS, openTransactions } from './transactions.ts';

// The contract tests are tested with subjects that break one promise each.

/** A healthy subject passes all, and each broken one fails with its promise. */
function shows<Broken extends { wrong: string; promise: string; says?: string }>(
  name: string,
  broken: readonly Broken[],
  register: (runner: TestRunner, broken?: Broken) => void,
) {
  describe(name, () => {
    it('pass where every promise is kept', async () => {
      const { failures, ran } = await failuresOf(register);
      expect([...failures.values()].map(({ message }) => message)).toEqual([]);
      expect(ran).toBeGreaterThan(broken.length);
    });

    it.each(broken.map((one) => [one.wrong, one.promise, one] as const))(
      'catch one that %s: %s',
      async (_wrong, promise, one) => {
        const { failures } = await failuresOf(
          (runner) => {
            register(runner, one);
          },
          [promise],
        );
        const { message = '' } = failures.get(promise) ?? {};
        expect(message.split('\n\n')[0]).toBe(`Broken promise: ${promise}`);
        expect(message).toContain(one.says ?? '');
      },
    );
  });
}

shows('the tests of stores', BROKEN_STORES, (runner, broken) => {
  storeContractTests(runner, { name: 'a store', open: () => openStore(broken?.breaks) });
});

shows('the tests of completeIn', BROKEN_TRANSACTIONS, (runner, broken) => {
  completeInContractTests(runner, {
    name: 'transactions',
    open: () => openTransactions(broken?.breaks),
  });
});

shows('the tests of dead letters', BROKEN_DEAD_LETTERS, (runner, broken) => {
  deadLettersContractTests(runner, {
    name: 'dead letters',
    open: () => openDeadLetters(broken?.breaks),
  });
});

shows('the tests of queues', BROKEN_QUEUES, (runner, broken) => {
  queueContractTests(runner, {
    name: 'a queue',
    lacks: ['worker-health', 'refusals'],
    within: broken ? 500 : 30_000,
    open: (options) => openQueue(options, broken?.breaks),
  });
});
