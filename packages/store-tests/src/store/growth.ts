import { unique } from '../unique.ts';
import { LEASE_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

const ROUNDS = 12;
const CLAIMS = 250;
/** Longer than anything of a claim has to be known; milliseconds. */
const EVERYTHING_IS_OVER_MS = 86_400_000 + LEASE_MS + SLACK_MS;

/** What a store has forgotten takes no room. */
export function growth(
  { it, store, claim, advance }: StoreTestContext,
  size: () => Promise<number>,
): void {
  it('deletes what it has forgotten, so that it does not grow without end', async () => {
    /** Claims of events, of groups and without a key; a part of them is completed. */
    async function round() {
      for (let claims = 0; claims < CLAIMS; claims += 25)
        await Promise.all(
          Array.from({ length: 25 }, async (_, at) => {
            const key = at % 5 === 0 ? undefined : unique('event');
            const group = key !== undefined && at % 5 === 1 ? unique('group') : undefined;
            const one = claim(key, { group });
            await store().admit(one);
            if (key !== undefined && at % 2 === 0) await store().complete(key, one.token);
          }),
        );
      await advance(EVERYTHING_IS_OVER_MS);
    }
    // What other tests left may go meanwhile: a store that deletes it may be smaller after a round.
    const before = await size();
    await round();
    const ofOneRound = (await size()) - before;
    for (let rounds = 1; rounds < ROUNDS; rounds++) await round();
    // A store may delete a part of it with each claim, and be some rounds behind.
    const allowed = before + (ROUNDS / 2) * Math.max(ofOneRound, CLAIMS);
    const found = await size();
    if (found >= allowed)
      throw new Error(
        `The store has ${String(found)} rows, keys or documents after ${String(ROUNDS)} rounds of ${String(CLAIMS)} claims; less than ${String(allowed)} are allowed. Each round left ${String(ofOneRound)}, and all of it had expired before the next round began. Delete more at a time, or more often: a store falls behind if it deletes less than its claims add.`,
      );
  });
}
