import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { outcomeOf, pingOf, whileRefused, type Refusals } from '../refusals.ts';
import { unique } from '../unique.ts';
import type { StoreTestContext } from './under-test.ts';

/** A store is ready while it would take a claim, and only then. */
export function storeIsReady(
  { it, store, claim }: StoreTestContext,
  refusals: () => Refusals | undefined,
): void {
  it('is not ready while it still answers reads but would refuse a claim', async () => {
    const receiver = createReceiver({
      secret: generateSecret(),
      store: store(),
      storeTimeout: 5_000,
      logger: collectingLogger(),
    });
    const probe = ready(receiver);
    const admit = () => store().admit(claim(unique('event')));
    /** What a claim and a probe get. A receiver says in its health why it is not ready. */
    const found = async (when: string) => ({
      when,
      claim: await outcomeOf(admit()),
      ready: (await probe()).status,
      ping: pingOf((await receiver.health()).store),
    });
    const isWell = (when: string) => ({ when, claim: 'accepted', ready: 200, ping: 'resolves' });
    const before = 'before anything is refused';
    expect(await found(before)).toEqual(isWell(before));
    await whileRefused(refusals(), async (name) => {
      const during = `during ${name}`;
      const refused = expect.stringMatching(/^rejects: /);
      expect(await found(during)).toEqual({
        when: during,
        claim: refused,
        ready: 503,
        ping: refused,
      });
    });
    const after = 'as soon as nothing is refused any more (is there a circuit breaker?)';
    expect(await found(after)).toEqual(isWell(after));
    await receiver.close();
  });
}
