import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exponentialBackoff } from '../../src/stores.ts';
import { Bag, type Bagged } from '../../src/bag.ts';
import { SEED } from '../support.ts';

describe('Bag', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as (options: { type: 'minor' }) => void;

  it('has what a set would have, whatever is added and deleted', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(9)), { maxLength: 60 });
    fc.assert(
      fc.property(steps, (all) => {
        const items = Array.from({ length: 10 }, (): Bagged => ({ place: 0 }));
        const [bag, set] = [new Bag<Bagged>(), new Set<Bagged>()];
        for (const [isAdded, number] of all) {
          const item = items[number] as Bagged;
          if (isAdded) {
            if (set.has(item)) continue;
            bag.add(item);
            set.add(item);
          } else expect(bag.delete(item)).toBe(set.delete(item));
          expect(bag.size).toBe(set.size);
          expect(new Set(bag)).toEqual(set);
        }
      }),
      { seed: SEED },
    );
  });

  it('can change while it is looked through', () => {
    const bag = new Bag<Bagged>();
    for (let count = 0; count < 3; count++) bag.add({ place: 0 });
    for (const item of bag) bag.delete(item);
    expect(bag.size).toBe(0);
  });

  it('leaves nothing of what was deleted to a full collection, however old it is', () => {
    const bag = new Bag<Bagged & { payload: number[] }>();
    const newItem = () => ({ place: 0, payload: new Array<number>(1_000).fill(0.5) }); // 8 KB
    const live = Array.from({ length: 64 }, newItem);
    for (const item of live) bag.add(item);
    const collect = () => {
      for (let count = 0; count < 3; count++) collectGarbage({ type: 'minor' });
      return getHeapStatistics().used_heap_size;
    };
    const before = collect();
    for (let round = 0; round < 2_000; round++) {
      const index = round % live.length;
      bag.delete(live[index] as (typeof live)[number]);
      bag.add((live[index] = newItem()));
    }
    expect(collect() - before).toBeLessThan(4_000_000); // of 16 MB
  });
});

it('doubles the delay after each attempt, up to a limit, and varies it by 10 %', () => {
  const delay = exponentialBackoff({ initialDelay: 1_000, maxDelay: 60_000 });
  for (const [attempt, expected] of [
    [1, 1_000],
    [2, 2_000],
    [6, 32_000],
    [7, 60_000],
    [10_000, 60_000],
  ] as const) {
    const delays = Array.from({ length: 100 }, () => delay(attempt));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(expected * 0.9);
    expect(Math.max(...delays)).toBeLessThanOrEqual(expected * 1.1);
    expect(new Set(delays).size).toBeGreaterThan(90);
  }
});
