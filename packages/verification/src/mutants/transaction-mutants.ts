import { core, MODEL, test, type Mutant } from './mutant.ts';

const COMPLETE_IN = test('receiver/complete-in.test.ts');

/** Bugs in what happens after `completeIn`. */
export const TRANSACTION_MUTANTS: readonly Mutant[] = [
  {
    name: 'complete outside of the transaction',
    harm: 'a transaction that is rolled back leaves a done event without its effect',
    edits: [
      {
        file: core('store/lease.ts'),
        from: 'return this.#store.completeIn(tx, this.#key, this.#token);',
        to: 'return this.#store.complete(this.#key, this.#token);',
      },
    ],
    killedBy: COMPLETE_IN,
  },
  {
    name: 'a handler that ignores a rollback is believed',
    harm: 'the event is acknowledged, and its effect is lost',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: '(await wasCommitted(context.transactions, lease))',
        to: '(result || (await wasCommitted(context.transactions, lease)))',
      },
    ],
    killedBy: COMPLETE_IN,
  },
  {
    name: 'a failure after the commit counts',
    harm: 'what is done goes to the dead letters, and is run again by hand',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: '(await wasCommitted(context.transactions, lease))',
        to: '(await wasCommitted(context.transactions, lease)) && result',
      },
    ],
    killedBy: COMPLETE_IN,
  },
  {
    name: 'a handler that fails is not asked for its transaction',
    harm: 'the answer to COMMIT is lost: a done event goes to the dead letters, and is run again by hand',
    edits: [
      {
        file: core('receiver/process-delivery.ts'),
        from: 'if (context.transactions && (await',
        to: 'if (context.transactions && result && (await',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a rollback counts as a commit',
    harm: 'the event is acknowledged, and its effect is lost',
    edits: [
      {
        file: core('store/lease.ts'),
        from: "if (status === 'admitted') return 'rolled-back';",
        to: "if (status === 'admitted') return 'committed';",
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a lease that was lost before the commit counts as a failure',
    harm: 'an event that another process runs goes to the dead letters',
    edits: [
      {
        file: core('receiver/transaction-end.ts'),
        from: 'else if (!transactions.leaseLost) return false;',
        to: 'else return false;',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a store that cannot be asked counts as a rollback',
    harm: 'an event that may be done goes to the dead letters',
    edits: [
      {
        file: core('store/lease.ts'),
        from: '      // A claim that waited for the commit may have seen the event as it was before.\n',
        to: "    } catch {\n      return 'rolled-back';\n    }\n    try {\n",
      },
    ],
    killedBy: MODEL,
  },
];
