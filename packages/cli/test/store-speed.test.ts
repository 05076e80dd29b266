import { afterEach, expect, jest, test } from '@jest/globals';
import { durationBucket } from '@call-webhooks/core/stores';
import { slowness } from '../src/commands/doctor-store.ts';
import type { OpenedStore } from '../src/store/engine.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** A store whose lookups take so long, and in whose log deliveries waited for it as they did. */
function storeOf(
  lookups: readonly number[],
  waits: readonly (readonly [ms: number, count: number])[],
) {
  let now = 1_000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const left = [...lookups];
  const counters = Object.fromEntries(
    waits.map(([ms, count]) => [`storeMs/${durationBucket(ms)}`, count]),
  );
  const store = {
    peek: async (keys: string[]) => {
      now += left.shift() ?? 0;
      return keys.map(() => undefined);
    },
    log: { counts: async () => new Map(waits.length > 0 ? [[1, counters]] : []) },
  };
  return { opened: { store } as unknown as OpenedStore, left };
}

const LOOKUP = (ms: string) => ({
  ...{ check: 'store speed', result: 'warn' },
  text: `A lookup takes ${ms}, which is more than 100 ms. A delivery waits for several calls of this kind.`,
  fix: 'Check the load of the server, and the distance to it. A receiver should run near its store.',
});
const DELIVERY = (ms: string) => ({
  ...{ check: 'store speed', result: 'warn' },
  text: `In the last half hour, deliveries waited for the store for ${ms} (95th percentile), which is more than 500 ms. A store that does not respond in 2 s makes the receiver reject the delivery with 503.`,
  fix: "Check the load of the store's server, its disk, and the distance between it and the receivers.",
});
const OK = (text: string) => ({ check: 'store speed', result: 'ok', text });
const ALL_QUICK = OK(
  'A lookup takes 40 ms. Deliveries waited for the store for 32 ms (95th percentile).',
);

test.each<[lookups: number[], waits: [number, number][], found: object[]]>([
  // The one in the middle counts, whichever comes first.
  [[40, 900, 1], [[32, 1]], [ALL_QUICK]],
  [[900, 1, 40], [[32, 1]], [ALL_QUICK]],
  [[1, 40, 900], [[32, 1]], [ALL_QUICK]],
  [[1, 100, 900], [], [OK('A lookup takes 100 ms.')]],
  [[101, 1, 900], [], [LOOKUP('101 ms')]],
  // 19 of 20 count, and one more does not.
  [
    [1, 1, 1],
    [
      [32, 19],
      [4_096, 1],
    ],
    [OK('A lookup takes 1 ms. Deliveries waited for the store for 32 ms (95th percentile).')],
  ],
  [
    [1, 1, 1],
    [
      [32, 18],
      [4_096, 2],
    ],
    [DELIVERY('4.1 s')],
  ],
  // What is slow is told of each.
  [[1_500, 1_500, 1_500], [[512, 1]], [LOOKUP('1.5 s'), DELIVERY('512 ms')]],
])('lookups of %j ms, and deliveries that waited %j', async (lookups, waits, found) => {
  const { opened, left } = storeOf(lookups, waits);
  const all = await slowness(opened);
  expect(all.map(({ fix, ...one }) => (fix === undefined ? one : { ...one, fix }))).toEqual(found);
  expect(left).toEqual([]);
});

test('of a store that can look up nothing, and has no log, nothing is told', async () => {
  const { opened } = storeOf([], []);
  expect(await slowness({ ...opened, store: {} as OpenedStore['store'] })).toEqual([]);
  const { peek: _peek, ...unseeing } = opened.store;
  expect(await slowness({ ...opened, store: unseeing })).toEqual([]);
});
