import { claimed } from './dead-letters/claimed.ts';
import { expired } from './dead-letters/expired.ts';
import { kept } from './dead-letters/kept.ts';
import { listed } from './dead-letters/listed.ts';
import { deadLettersAreReady } from './dead-letters/ready.ts';
import {
  OPTIONAL_DEAD_LETTERS_MEMBERS,
  type DeadLettersTestContext,
  type DeadLettersUnderTest,
  type OpenedDeadLetters,
} from './dead-letters/under-test.ts';
import { membersAreAsSaid } from './optional-members.ts';
import { testsOf, type TestRunner } from './runner.ts';

/**
 * Registers the tests that every store of dead letters has to pass. What it lacks, it has to say in
 * `without`.
 */
export function deadLettersContractTests(runner: TestRunner, subject: DeadLettersUnderTest): void {
  const { describe, it, beforeAll, afterAll } = testsOf(runner);
  const { name, without = [] } = subject;
  describe(`${name}: dead letters contract tests`, () => {
    let opened: OpenedDeadLetters;
    beforeAll(async () => {
      opened = await subject.open();
    });
    afterAll(async () => opened.close?.());

    const letters = () => opened.deadLetters;
    const context: DeadLettersTestContext = {
      it,
      letters,
      connections: () => [opened.deadLetters, ...(opened.others ?? [])],
      advance: async (ms) => opened.advance(ms),
    };
    membersAreAsSaid(context, 'DeadLetters', OPTIONAL_DEAD_LETTERS_MEMBERS, letters, without);
    kept(context);
    listed(context);
    claimed(context);
    if (!without.includes('removeExpired')) expired(context);
    deadLettersAreReady(context, () => opened.refusals, !without.includes('refusals'));
  });
}
