import { describe, expect, it, jest } from '@jest/globals';
import { TurnBatch } from '../../src/store/turn-batch.ts';

/** A batch whose calls are answered with twice their number, and the sizes of its batches. */
function doubling(max: number) {
  const sizes: number[] = [];
  const batch = new TurnBatch<number, number>(max, (calls) => {
    sizes.push(calls.length);
    for (const { call, resolve, reject } of calls)
      if (call < 0) reject(new Error('negative'));
      else resolve(call * 2);
  });
  return { batch, sizes };
}

describe('TurnBatch', () => {
  it('passes on the calls of one turn together, and gives each its own answer', async () => {
    const { batch, sizes } = doubling(10);
    const answers = [1, 2, 3].map((number) => batch.add(number));
    await Promise.resolve();
    answers.push(batch.add(4)); // still the same turn
    expect(sizes).toEqual([]);
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8]);
    expect(await batch.add(5)).toBe(10);
    expect(sizes).toEqual([4, 1]);
  });

  it('waits no longer once a batch is full', async () => {
    const { batch, sizes } = doubling(2);
    const answers = [1, 2, 3, 4, 5].map((number) => batch.add(number));
    expect(sizes).toEqual([2, 2]);
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10]);
    await new Promise(setImmediate);
    expect(sizes).toEqual([2, 2, 1]);
  });

  it('rejects the calls that fail, and no others', async () => {
    const { batch } = doubling(10);
    const settled = await Promise.allSettled([1, -1, 2].map((number) => batch.add(number)));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('does not stop with the fake timers of a test', async () => {
    jest.useFakeTimers();
    try {
      expect(await doubling(10).batch.add(1)).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
