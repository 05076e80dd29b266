import { expect, it } from '@jest/globals';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { whileRefused, type Refusals } from '../refusals.ts';
import { deadLetter, type DeadLettersTestContext } from './under-test.ts';

/** A receiver is ready while its dead letters would be kept, and only then. */
export function deadLettersAreReady(
  { letters }: DeadLettersTestContext,
  refusals: () => Refusals | undefined,
): void {
  it('are not ready while they would refuse a letter', async () => {
    const receiver = createReceiver({
      secret: generateSecret(),
      deadLetter: letters(),
      storeTimeout: 5_000,
      logger: collectingLogger(),
    });
    const status = async () => (await ready(receiver)()).status;
    const count = await letters().count();
    expect(await status()).toBe(200);
    if (refusals())
      await whileRefused(refusals(), async (name) => {
        const outcome = await letters()
          .put(deadLetter())
          .then(
            () => 'kept',
            () => 'refused',
          );
        expect([name, outcome, await status()]).toEqual([name, 'refused', 503]);
      });
    expect(await status()).toBe(200);
    expect(await letters().count()).toBe(count); // a check leaves nothing behind
    await receiver.close();
  });
}
