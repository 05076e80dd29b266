import { core, MODEL, sqlite, test, type Mutant } from './mutant.ts';

/** Bugs in `oneAtATime`. */
export const GROUP_MUTANTS: readonly Mutant[] = [
  {
    name: 'a group that is never busy',
    harm: 'handlers of one call run beside each other',
    edits: [
      {
        file: core('store/memory-store.ts'),
        from: "if (isBusy) return { status: 'group-busy' };",
        to: "if (isBusy && key === '') return { status: 'group-busy' };",
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a group that stays busy after its event was done',
    harm: 'the next event of the call waits for nothing',
    edits: [
      {
        file: sqlite('store.ts'),
        from: 'last ? Number(last.done) === 0 && isLive(',
        to: 'last ? isLive(',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a group that counts the attempts of who waits',
    harm: 'an event goes to the dead letters because another one was slow',
    edits: [
      {
        file: core('store/memory-store.ts'),
        from: "if (isBusy) return { status: 'group-busy' };",
        to: "if (isBusy) { remember(key, event ?? newEvent(undefined), past + 1); return { status: 'group-busy' }; }",
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a wait for a group with new claims',
    harm: 'a delivery that waited is taken for a replay of itself',
    edits: [
      {
        file: core('receiver/group-turns.ts'),
        from: 'const admission = await store.admit(claim);',
        to: 'const admission = await store.admit({ ...claim, token: `${claim.token}${String(attempt)}` });',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a wait for a group that is not told of the end',
    harm: 'a delivery waits on although its group is free',
    edits: [
      {
        file: core('receiver/group-turns.ts'),
        from: 'initialDelay: 50, maxDelay: 500',
        to: 'initialDelay: 50_000, maxDelay: 50_000',
      },
    ],
    killedBy: MODEL,
  },
  {
    name: 'a wait for a group until the deadline',
    harm: 'the service is told that the handler is slow, which never ran',
    edits: [
      {
        file: core('receiver/group-turns.ts'),
        from: 'const WAITING_SHARE = 0.9;',
        to: 'const WAITING_SHARE = 2;',
      },
    ],
    killedBy: test('receiver/one-at-a-time.test.ts'),
  },
];
