import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { IdCache } from '../../src/store/id-cache.ts';

function setup(maxEntries: number) {
  const seen = { evicted: 0, now: 1_000 };
  const cache = new IdCache(
    maxEntries,
    () => seen.now,
    () => void (seen.evicted += 1),
  );
  return { seen, cache };
}

describe('IdCache', () => {
  it('keeps a number until it expires', () => {
    const { seen, cache } = setup(10);
    cache.set('a', 1, 500);
    cache.set('b', 2, 2_000);
    const found = (now: number) => {
      seen.now = now;
      return ['a', 'b', 'c'].map((id) => cache.get(id));
    };
    expect(found(1_500)).toEqual([1, 2, undefined]);
    expect(found(1_501)).toEqual([undefined, 2, undefined]);
    expect(found(3_001)).toEqual([undefined, undefined, undefined]);
    expect(seen.evicted).toBe(0);
  });

  it('works from the first millisecond of a clock', () => {
    for (const start of [0, 1]) {
      const { seen, cache } = setup(10);
      seen.now = start;
      cache.set('a', 1, 500);
      seen.now = start + 500;
      expect(cache.get('a')).toBe(1);
      seen.now = start + 501;
      expect(cache.get('a')).toBeUndefined();
    }
  });

  it('reports early evictions, and only those', () => {
    const { seen, cache } = setup(2);
    for (const id of ['a', 'b', 'c']) cache.set(id, 1, 500);
    expect(seen.evicted).toBe(1);
    expect(cache.get('a')).toBeUndefined();
    seen.now = 1_501;
    for (const id of ['d', 'e']) cache.set(id, 1, 500);
    expect(seen.evicted).toBe(1);
  });

  it('evicts the least recently set, regardless of reads', () => {
    const { cache } = setup(3);
    for (const id of ['a', 'b', 'c']) cache.set(id, 1, 500);
    expect(cache.get('b')).toBe(1);
    cache.set('a', 2, 500);
    cache.set('d', 1, 500);
    expect(['a', 'b', 'c', 'd'].map((id) => cache.get(id))).toEqual([2, undefined, 1, 1]);
  });

  it('is bounded as a whole when it is split, and distributes ids evenly', () => {
    const { seen, cache } = setup(200_000);
    const id = (number: number) => `call-${number}:call:completed`;
    for (let i = 0; i < 240_000; i++) cache.set(id(i), i, 1_000);
    let kept = 0;
    for (let i = 0; i < 240_000; i++) if (cache.get(id(i)) === i) kept += 1;
    expect(kept).toBe(240_000 - seen.evicted);
    expect(kept).toBeLessThanOrEqual(200_000);
    expect(kept).toBeGreaterThan(199_000);
    for (let i = 45_000; i < 240_000; i += 10_000) expect(cache.get(id(i))).toBe(i);
  });

  it('does not retain the text that an id was sliced from', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { cache } = setup(1_000);
    const heapUsed = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const before = heapUsed();
    for (let i = 0; i < 100; i++) {
      const json = JSON.stringify(`${String(i).padStart(20, '0')}${'x'.repeat(200_000)}`);
      cache.set((JSON.parse(json) as string).slice(0, 20), i, 1_000);
    }
    expect(heapUsed() - before).toBeLessThan(5e6); // 20 MB if it did
    expect(cache.get('99'.padStart(20, '0'))).toBe(99);
  });
});
