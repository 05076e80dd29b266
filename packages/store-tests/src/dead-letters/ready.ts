import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { outcomeOf, pingOf, whileRefused, type Refusals } from '../refusals.ts';
import { deadLetter, type DeadLettersTestContext } from './under-test.ts';

/** A receiver says whether its dead letters would be kept. It is ready in either case. */
export function deadLettersAreReady(
  { it, letters }: DeadLettersTestContext,
  refusals: () => Refusals | undefined,
  canRefuse: boolean,
): void {
  it('says that it is down while it would refuse a letter', async () => {
    const receiver = createReceiver({
      secret: generateSecret(),
      deadLetter: letters(),
      storeTimeout: 5_000,
      logger: collectingLogger(),
    });
    const found = async (when: string) => ({
      when,
      ping: pingOf((await receiver.health()).deadLetter),
      ready: (await ready(receiver)()).status,
    });
    const isWell = (when: string) => ({ when, ping: 'resolves', ready: 200 });
    const count = await letters().count();
    const before = 'before anything is refused';
    expect(await found(before)).toEqual(isWell(before));
    if (canRefuse)
      await whileRefused(refusals(), async (name) => {
        const during = `during ${name}`;
        const refused = expect.stringMatching(/^rejects: /);
        const put = await outcomeOf(letters().put(deadLetter()));
        // A receiver is ready all the same: only deliveries that fail need dead letters.
        const expected = { when: during, put: refused, ping: refused, ready: 200 };
        expect({ ...(await found(during)), put }).toEqual(expected);
      });
    const after = 'as soon as nothing is refused any more (is there a circuit breaker?)';
    expect(await found(after)).toEqual(isWell(after));
    expect(await letters().count()).toBe(count); // a check leaves nothing behind
    await receiver.close();
  });
}
