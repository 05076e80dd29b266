import { describe, expect, it } from '@jest/globals';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { IdCache } from '../../src/store/memory-store.ts';

function setup(maxEntries: number) {
  const evicted: number[] = [];
  const cache = new IdCache<{ n: number }>(maxEntries, ({ n }) => void evicted.push(n));
  const set = (id: string, n: number) => cache.set(id, { n });
  const get = (id: string) => cache.get(id)?.n;
  return { evicted, set, get };
}

describe('IdCache', () => {
  it('keeps values, and tells of each that has to make room', () => {
    const { evicted, set, get } = setup(2);
    set('a', 1);
    set('b', 2);
    set('b', 3);
    expect(['a', 'b', 'c'].map(get)).toEqual([1, 3, undefined]);
    expect(evicted).toEqual([]);
    set('c', 4);
    expect(evicted).toEqual([1]);
    expect(['a', 'b', 'c'].map(get)).toEqual([undefined, 3, 4]);
  });

  it('evicts the least recently set, regardless of reads', () => {
    const { set, get } = setup(3);
    for (const id of ['a', 'b', 'c']) set(id, 1);
    expect(get('b')).toBe(1);
    set('a', 2);
    set('d', 1);
    expect(['a', 'b', 'c', 'd'].map(get)).toEqual([2, undefined, 1, 1]);
  });

  it('is bounded as a whole when it is split, and distributes ids evenly', () => {
    const { evicted, set, get } = setup(132_000);
    const id = (number: number) => `call-${number}:call:completed`;
    for (let i = 0; i < 150_000; i++) set(id(i), i);
    let kept = 0;
    for (let i = 0; i < 150_000; i++) if (get(id(i)) === i) kept += 1;
    expect(kept).toBe(150_000 - evicted.length);
    expect(kept).toBeLessThanOrEqual(132_000);
    expect(kept).toBeGreaterThan(131_000);
    for (let i = 25_000; i < 150_000; i += 10_000) expect(get(id(i))).toBe(i);
  });

  it('does not retain the text that an id was sliced from', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { set, get } = setup(1_000);
    const heapUsed = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heapUsed();
    for (let i = 0; i < 100; i++) {
      const json = JSON.stringify(`${String(i).padStart(20, '0')}${'x'.repeat(132_000)}`);
      set((JSON.parse(json) as string).slice(0, 20), i);
    }
    expect(heapUsed() - before).toBeLessThan(5e6); // 20 MB if it did
    expect(get('99'.padStart(20, '0'))).toBe(99);
  });
});
