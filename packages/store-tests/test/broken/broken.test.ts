import { describe, expect, it } from '@jest/globals';
import {
  completeInContractTests,
  deadLettersContractTests,
  queueContractTests,
  storeContractTests,
  type TestRunner,
} from '../../src/index.ts';
import { failuresOf } from '../collect.ts';
import { BROKEN_CLAIMS } from './claims.ts';
import { BROKEN_DEAD_LETTERS, openDeadLetters } from './dead-letters.ts';
import { FAILING_QUEUES } from './failing-queues.ts';
import { BROKEN_KEPT_LOGS } from './kept-logs.ts';
import { BROKEN_LETTERS } from './letters.ts';
import { BROKEN_LOGS } from './logs.ts';
import { BROKEN_QUEUES, openQueue } from './queues.ts';
import { BROKEN_STATES } from './states.ts';
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
      expect(ran).toBeGreaterThanOrEqual(new Set(broken.map(({ promise }) => promise)).size);
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

const BROKEN = [
  ...[...BROKEN_STORES, ...BROKEN_STATES, ...BROKEN_CLAIMS],
  ...[...BROKEN_LOGS, ...BROKEN_KEPT_LOGS],
];
shows('the tests of stores', BROKEN, (runner, broken) => {
  storeContractTests(runner, { name: 'a store', open: () => openStore(broken?.breaks) });
});

shows('the tests of completeIn', BROKEN_TRANSACTIONS, (runner, broken) => {
  completeInContractTests(runner, {
    name: 'transactions',
    open: () => openTransactions(broken?.breaks),
  });
});

shows(
  'the tests of dead letters',
  [...BROKEN_DEAD_LETTERS, ...BROKEN_LETTERS],
  (runner, broken) => {
    deadLettersContractTests(runner, {
      name: 'dead letters',
      open: () => openDeadLetters(broken?.breaks),
    });
  },
);

shows('the tests of queues', [...BROKEN_QUEUES, ...FAILING_QUEUES], (runner, broken) => {
  queueContractTests(runner, {
    name: 'a queue',
    lacks: ['worker-health', 'refusals'],
    within: broken ? 300 : 30_000,
    open: (options) => openQueue(options, broken?.breaks),
  });
});

describe('what the subject of the tests says of itself', () => {
  it('has to be true of the members that it is without', async () => {
    const { failures } = await failuresOf((runner) => {
      storeContractTests(runner, { name: 'a store', without: ['log'], open: () => openStore() });
    });
    expect([...failures.keys()]).toContain(
      'has each optional member of Store that `without` does not name, and no other',
    );
  });

  it('has to be one store over all its connections', async () => {
    const alone = await failuresOf((runner) => {
      const open = async () => ({ ...(await openStore()), others: [(await openStore()).store] });
      storeContractTests(runner, { name: 'a store', open });
    });
    expect([...alone.failures.keys()]).toEqual(
      expect.arrayContaining([
        'admits one of 50 racing deliveries of one webhook id',
        'has one winner among 200 racing claims of one event, each sent twice',
        'has one winner among 200 racing claims of 50 events of one group, again and again',
        'keeps the cursor that was saved last under a name, on every connection',
        'gives the newest rows first, page by page, on every connection',
        'counts a batch once, however often and on whatever connection it is appended',
      ]),
    );
    const same = await failuresOf((runner) => {
      const open = async () => {
        const opened = await openStore();
        return { ...opened, others: [opened.store] };
      };
      storeContractTests(runner, { name: 'a store', open });
    });
    expect(same.failures).toEqual(new Map());
  });
});

describe('what the tests leave behind', () => {
  /** Ways to refuse that have no effect, which the tests of `ping` complain of, and how many are in force. */
  function refusing() {
    const log: string[] = [];
    const way = (name: string) => async () => {
      log.push(`${name} begins`);
      return async () => log.push(`${name} ends`);
    };
    return { log, refusals: { first: way('first'), second: way('second') } };
  }
  const closing = (closed: string[], name: string) => () => Promise.resolve(void closed.push(name));

  it('is no open store, and no refusal that is in force, also where a test fails', async () => {
    const { log, refusals } = refusing();
    const closed: string[] = [];
    const { failures } = await failuresOf((runner) => {
      const open = async () => ({
        ...(await openStore()),
        refusals,
        close: closing(closed, 'store'),
      });
      storeContractTests(runner, { name: 'a store', open });
    });
    expect(failures.size).toBeGreaterThan(0);
    expect(log.slice(0, 2)).toEqual(['first begins', 'first ends']);
    expect(log.filter((line) => line.endsWith('begins')).length * 2).toBe(log.length);
    expect(closed).toEqual(['store']);
  });

  it('is no open store of dead letters', async () => {
    const { log, refusals } = refusing();
    const closed: string[] = [];
    const { failures } = await failuresOf((runner) => {
      const open = async () => ({
        ...(await openDeadLetters()),
        ...{ refusals, close: closing(closed, 'letters') },
      });
      deadLettersContractTests(runner, { name: 'dead letters', open });
    });
    expect(failures.size).toBeGreaterThan(0);
    expect(log.slice(0, 2)).toEqual(['first begins', 'first ends']);
    expect(closed).toEqual(['letters']);
  });

  it('is no worker, and then no queue, of any test', async () => {
    const closed: string[] = [];
    const { ran, failures } = await failuresOf((runner) =>
      queueContractTests(runner, {
        name: 'a queue',
        lacks: ['worker-health', 'refusals'],
        async open(options) {
          const opened = await openQueue(options);
          return {
            ...opened,
            async startWorker(handlers) {
              const worker = await opened.startWorker(handlers);
              closed.push('start');
              const close = async () => {
                await worker.close();
                closed.push('worker');
              };
              return { ...worker, close };
            },
            async close() {
              await opened.close();
              closed.push('queue');
            },
          };
        },
      }),
    );
    expect(failures).toEqual(new Map());
    const count = (name: string) => closed.filter((one) => one === name).length;
    expect(count('queue')).toBeGreaterThanOrEqual(ran);
    expect(count('worker')).toBe(count('start'));
    expect(closed.at(-1)).toBe('queue');
  });

  it('is an error that says where the promise was broken', async () => {
    const { failures } = await failuresOf((runner) => {
      const open = async () => ({ ...(await openStore()), refusals: {} });
      storeContractTests(runner, { name: 'a store', open });
    });
    const [error] = [...failures.values()];
    expect(error!.message).toContain('The test needs refusals: ways in which what is written');
    expect(error!.stack).toMatch(/^Error: Broken promise: [^]*\n\s+at whileRefused .*refusals\.ts/);
    expect(error!.cause).toMatchObject({
      message: expect.stringMatching(/^The test needs refusals/),
    });
  });
});
