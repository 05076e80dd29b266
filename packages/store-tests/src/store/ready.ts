import expect from '../../expect.cjs';
import { createReceiver, generateSecret, ready } from '@call-webhooks/core';
import { collectingLogger } from '../collecting-logger.ts';
import { whileRefused, type Refusals } from '../refusals.ts';
import { unique } from '../unique.ts';
import type { StoreTestContext } from './under-test.ts';

/** A store is ready while it would take a claim, and only then. */
export function storeIsReady(
  { it, store, claim }: StoreTestContext,
  refusals: () => Refusals | undefined,
): void {
  it('is not ready while it answers, but would refuse a claim', async () => {
    const receiver = createReceiver({
      secret: generateSecret(),
      store: store(),
      storeTimeout: 5_000,
      logger: collectingLogger(),
    });
    const probe = ready(receiver);
    const status = async () => (await probe()).status;
    const admit = () => store().admit(claim(unique('event')));
    expect(await status()).toBe(200);
    await whileRefused(refusals(), async (name) => {
      const outcome = await admit().then(
        () => 'admitted',
        () => 'refused',
      );
      expect([name, outcome, await status()]).toEqual([name, 'refused', 503]);
    });
    expect(await status()).toBe(200);
    expect((await admit()).status).toBe('admitted');
    await receiver.close();
  });
}
