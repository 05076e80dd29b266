import { core, test, type Mutant } from './mutant.ts';

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
        from: '(await wasCommitted(context, lease))',
        to: '(result || (await wasCommitted(context, lease)))',
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
        from: '(await wasCommitted(context, lease))',
        to: '(await wasCommitted(context, lease)) && result',
      },
    ],
    killedBy: COMPLETE_IN,
  },
];
