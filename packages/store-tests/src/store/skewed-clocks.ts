import expect from '../../expect.cjs';
import type { Store } from '@call-webhooks/core';
import { unique } from '../unique.ts';
import { LEASE_MS, REMEMBER_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

const MINUTE = 60_000;

/** Only differences of times leave a receiver: its clock may be wrong. */
export function skewedClocks(
  { it, store, claim, now, advance }: StoreTestContext,
  skewed: (ms: number) => Store,
): void {
  for (const minutes of [-60, -10, 10, 60])
    it(`remembers webhook ids and events as long for a receiver whose clock is ${minutes} minutes off`, async () => {
      const receiver = skewed(minutes * MINUTE);
      for (const key of [undefined, unique('event')]) {
        const replayUntil = now() + minutes * MINUTE + REMEMBER_MS;
        const first = claim(key, { replayUntil });
        expect((await receiver.admit(first)).status).toBe('admitted');
        const again = () => store().admit({ ...claim(key), webhookId: first.webhookId });
        expect(await again()).toEqual({ status: 'replayed' });
        if (key !== undefined) {
          expect(await store().admit(claim(key))).toEqual({ status: 'in-progress' });
          expect(await receiver.extend(key, first.token, LEASE_MS)).toBe(true);
          expect(await receiver.complete(key, first.token)).toBe(true);
        }
        await advance(REMEMBER_MS - 2_000);
        expect(await again()).toEqual({ status: 'replayed' });
        await advance(SLACK_MS + 2_000);
        const status = key === undefined ? 'admitted' : 'duplicate';
        expect((await again()).status).toBe(status); // the id is forgotten, and the event is not
      }
    });
}
