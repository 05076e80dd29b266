import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { whileRefused, type Refusals } from '../refusals.ts';
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
    const state = async () => (await receiver.health()).deadLetter?.status;
    const count = await letters().count();
    expect(await state()).not.toBe('down');
    if (canRefuse)
      await whileRefused(refusals(), async (name) => {
        const outcome = await letters()
          .put(deadLetter())
          .then(
            () => 'kept',
            () => 'refused',
          );
        expect([name, outcome, await state()]).toEqual([name, 'refused', 'down']);
        expect((await ready(receiver)()).status).toBe(200);
      });
    expect(await state()).not.toBe('down');
    expect(await letters().count()).toBe(count); // a check leaves nothing behind
    await receiver.close();
  });
}
