import { afterAll, beforeAll, describe } from '@jest/globals';
import { claimed } from './dead-letters/claimed.ts';
import { expired } from './dead-letters/expired.ts';
import { kept } from './dead-letters/kept.ts';
import { listed } from './dead-letters/listed.ts';
import { deadLettersAreReady } from './dead-letters/ready.ts';
import type { DeadLettersTestContext, OpenedDeadLetters } from './dead-letters/under-test.ts';
import type { UnderTest } from './store/under-test.ts';

/** What every store of dead letters must do. */
export function deadLettersContractTests(subject: UnderTest<OpenedDeadLetters>): void {
  describe(`${subject.name}: dead letters contract tests`, () => {
    let opened: OpenedDeadLetters;
    beforeAll(async () => {
      opened = await subject.open();
    });
    afterAll(async () => opened.close?.());

    const context: DeadLettersTestContext = {
      letters: () => opened.deadLetters,
      connections: () => [opened.deadLetters, ...(opened.others ?? [])],
      advance: async (ms) => opened.advance(ms),
    };
    kept(context);
    listed(context);
    claimed(context);
    expired(context);
    deadLettersAreReady(context, () => opened.refusals);
  });
}
