import { expect, test } from '@jest/globals';
import { advanceUntil } from '../src/simulator/clock.ts';
import type { Connection } from '../src/simulator/connection.ts';

// A manual clock goes no further than it has to, and as far as anything can still bring the result.

/** A simulator whose clock is like this, each time that it is asked, and the result that is there from a time on. */
async function advanced(
  clocks: readonly (readonly [due: number | null, inFlight: number])[],
  foundAt: number,
) {
  const posted: string[] = [];
  let asked = 0;
  let reads = 0;
  const connection = {
    async post(path: string, body?: object) {
      posted.push(`${path} ${JSON.stringify(body ?? {})}`);
    },
    async get(path: string) {
      expect(path).toBe('/clock');
      const [nextDueAt, inFlight] = clocks[asked++] ?? [null, 0];
      return { nextDueAt, inFlight, now: 0, mode: 'manual' };
    },
  };
  const read = async () => (++reads >= foundAt ? 'found' : undefined);
  const result = await advanceUntil(connection as unknown as Connection, read).catch(
    (error: unknown) => error,
  );
  return { result, posted, reads };
}

const NOW = '/clock/advance {"by":0}';
const NEXT = '/clock/next {}';

test.each<
  [what: string, clocks: (readonly [number | null, number])[], foundAt: number, posted: string[]]
>([
  ['what is due now is enough', [[5, 1]], 1, [NOW]],
  ['nothing is due any more, but the result is there', [[null, 0]], 1, [NOW]],
  [
    'something is due',
    [
      [5, 0],
      [null, 0],
    ],
    2,
    [NOW, NEXT, NOW],
  ],
  [
    'nothing is due, but a delivery is in flight',
    [
      [null, 1],
      [null, 0],
    ],
    2,
    [NOW, NEXT, NOW],
  ],
  [
    'much is due',
    [
      [5, 2],
      [null, 1],
      [7, 0],
      [null, 0],
    ],
    4,
    [NOW, NEXT, NOW, NEXT, NOW, NEXT, NOW],
  ],
])('%s', async (_what, clocks, foundAt, posted) => {
  expect(await advanced(clocks, foundAt)).toEqual({ result: 'found', posted, reads: foundAt });
});

test('nothing is due or in flight, and there is no result: it says so, and ends with 1', async () => {
  const { result, posted, reads } = await advanced(
    [
      [5, 0],
      [null, 0],
    ],
    3,
  );
  expect(result).toMatchObject({
    exitCode: 1,
    message:
      "Nothing more is due on the simulator's manual clock, but not every event got a response.",
    fix: 'To see what happened to them: npx call-webhooks events list',
  });
  expect([posted, reads]).toEqual([[NOW, NEXT, NOW], 2]);
});
