import { COUNTER_SERIES, LOG_LIMITS, SERIES_NAMES } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { HOUR_MS, outcomeBatches } from './outcome-batches.ts';
import { LEASE_MS, SLACK_MS, type StoreTestContext } from './under-test.ts';

const ROUNDS = 12;
const CLAIMS = 250;
/** Longer than anything of a claim has to be known; milliseconds. */
const EVERYTHING_IS_OVER_MS = 86_400_000 + LEASE_MS + SLACK_MS;

/** How many batches with an id, a process, a mark and a counter of their own are written to the log. */
const BATCHES = 120;
/** A log may delete what is too old with some batches only, and a part of it each time. */
const BATCHES_AFTERWARDS = 60;

/** What a store has forgotten takes no room. */
export function growth(context: StoreTestContext, size: () => Promise<number>): void {
  const { it, has, store, claim, advance } = context;
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

  if (!has('log')) return;
  it('deletes what its outcome log has forgotten', async () => {
    const { log, batch, row, failure, writer } = outcomeBatches(context);
    async function write(name: string) {
      const process = writer({ id: name });
      const counts = Object.fromEntries(
        SERIES_NAMES.map((series) => [
          series,
          { [Math.floor(process.at / COUNTER_SERIES[series].periodMs)]: { [name]: 1 } },
        ]),
      );
      const rows = { rows: [row()], failures: [failure()] };
      await log().append(batch({ process, counts, marks: { [name]: process.at }, ...rows }));
    }
    /** All that was written before is over, and the log is written to all the same. */
    async function sizeAfterwards() {
      await advance(LOG_LIMITS.marksMs + HOUR_MS);
      const name = unique('afterwards');
      for (let written = 0; written < BATCHES_AFTERWARDS; written++) await write(name);
      return size();
    }
    const before = await sizeAfterwards();
    for (let written = 0; written < BATCHES; written++) await write(unique('name'));
    const found = await sizeAfterwards();
    if (found >= before + BATCHES / 2)
      throw new Error(
        `The store had ${String(before)} rows, keys or documents, and has ${String(found)} after ${String(BATCHES)} batches of its log, each with an id, a process, a mark and counters of its own. All of it had expired before ${String(BATCHES_AFTERWARDS)} more batches were written, which should have deleted it.`,
      );
  });
}
