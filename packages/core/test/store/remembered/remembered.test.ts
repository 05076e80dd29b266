import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hashOf } from '../../../src/store/remembered/hash.ts';
import { Remembered } from '../../../src/store/remembered/remembered.ts';
import { Shard } from '../../../src/store/remembered/shard.ts';

function setup(maxEntries: number) {
  const seen = { evicted: 0 };
  return { seen, remembered: new Remembered(maxEntries, () => void (seen.evicted += 1)) };
}

describe('Remembered', () => {
  it('keeps a number up to its end', () => {
    const { seen, remembered } = setup(10);
    remembered.set('a', 1, 1_500, 1_000);
    remembered.set('b', 2, 3_000, 1_000);
    const found = (now: number) => ['a', 'b', 'c'].map((id) => remembered.get(id, now));
    expect(found(1_500)).toEqual([1, 2, undefined]);
    expect(found(1_501)).toEqual([undefined, 2, undefined]);
    expect(found(3_001)).toEqual([undefined, undefined, undefined]);
    expect(seen.evicted).toBe(0);
  });

  it('tells what it forgets before its time, and only that', () => {
    const { seen, remembered } = setup(2);
    for (const id of ['a', 'b', 'c']) remembered.set(id, 1, 1_500, 1_000);
    expect(seen.evicted).toBe(1);
    expect(remembered.get('a', 1_000)).toBeUndefined();
    for (const id of ['d', 'e']) remembered.set(id, 1, 2_000, 1_501);
    expect(seen.evicted).toBe(1);
  });

  it('is bounded as a whole when it is made of several shards, and spreads ids evenly over them', () => {
    const { seen, remembered } = setup(200_000);
    const id = (number: number) => `call-${number}:call:completed`;
    for (let i = 0; i < 240_000; i++) remembered.set(id(i), i, 2, 1);
    let kept = 0;
    for (let i = 0; i < 240_000; i++) if (remembered.get(id(i), 1) === i) kept += 1;
    expect(kept).toBe(240_000 - seen.evicted);
    expect(kept).toBeLessThanOrEqual(200_000);
    expect(kept).toBeGreaterThan(199_000);
    for (let i = 45_000; i < 240_000; i += 10_000) expect(remembered.get(id(i), 1)).toBe(i);
  });

  it.each([NaN, -1, 0, 1.5, Infinity, 2e9])('can not be made for %p entries', (maxEntries) => {
    expect(() => setup(maxEntries)).toThrow('maxEntries is a whole number');
  });
});

/** What a shard does, in the plainest way: entries in the order in which they were set. */
class Plain {
  evicted = 0;
  readonly #max: number;
  readonly #entries: { id: string; value: number; until: number }[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  #find(id: string) {
    return this.#entries.findLast((entry) => entry.id === id);
  }

  get(id: string, now: number) {
    const entry = this.#find(id);
    return entry && entry.until >= now ? entry.value : undefined;
  }

  set(id: string, value: number, until: number, now: number) {
    const former = this.#find(id);
    if (former) former.until = -Infinity;
    for (let i = 0; i < 2 && (this.#entries[0]?.until ?? Infinity) < now; i++)
      this.#entries.shift();
    if (this.#entries.length === this.#max) {
      this.#entries.shift();
      this.evicted += 1;
    }
    this.#entries.push({ id, value, until });
  }
}

describe('Shard', () => {
  // Few hashes, so that ids fall together; few ids, so that they come again; some of two bytes a character.
  const anId = fc.oneof(
    fc.string({ maxLength: 3 }),
    fc.string({ unit: 'binary', maxLength: 2 }),
    fc.constantFrom('\u0100', '\u0000\u0001', '\ud800', 'é', 'x'.repeat(700)),
  );
  const calls = fc.array(fc.record({ id: anId, ttl: fc.nat(20), pass: fc.nat(3) }), {
    maxLength: 150,
  });

  it('does what a plain list does, whatever comes and however hashes fall together', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, 7, 300),
        calls,
        fc.constantFrom(1, 4, 32),
        (max, all, bits) => {
          const plain = new Plain(max);
          let evicted = 0;
          const shard = new Shard(max, () => void (evicted += 1));
          const weak = (id: string) => (hashOf(id) >>> (32 - bits)) >>> 0;
          let now = 0;
          all.forEach(({ id, ttl, pass }, value) => {
            now += pass;
            shard.set(id, weak(id), value, now + ttl, now);
            plain.set(id, value, now + ttl, now);
            for (const { id: any } of all.slice(-8))
              expect(shard.get(any, weak(any), now)).toBe(plain.get(any, now));
          });
          for (const { id } of all) expect(shard.get(id, weak(id), now)).toBe(plain.get(id, now));
          expect(evicted).toBe(plain.evicted);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('grows with its ids in their order, and turns over many times', () => {
    let evicted = 0;
    const shard = new Shard(5_000, () => void (evicted += 1));
    const id = (i: number) => (i % 97 === 0 ? `\u4e2d${String(i)}` : `id-${String(i)}`);
    for (let i = 0; i < 60_000; i++) shard.set(id(i), hashOf(id(i)), i, 10, 1);
    expect(evicted).toBe(55_000);
    const found = Array.from({ length: 60_000 }, (_none, i) => shard.get(id(i), hashOf(id(i)), 1));
    expect(found.lastIndexOf(undefined)).toBe(54_999);
    expect(found.slice(55_000)).toEqual(Array.from({ length: 5_000 }, (_none, i) => 55_000 + i));
  });

  it('frees the memory of what it forgets', () => {
    const before = process.memoryUsage().arrayBuffers;
    const shard = new Shard(1_000, () => undefined);
    const end = 'x'.repeat(1_000);
    for (let i = 0; i < 50_000; i++) shard.set(String(i) + end, i, i, 10, 1);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20e6);
    expect(shard.get(`49999${end}`, 49_999, 1)).toBe(49_999);
  });

  it('keeps what is set again for longer than what came in between', () => {
    const shard = new Shard(3, () => undefined);
    const set = (id: string, value: number) => {
      shard.set(id, hashOf(id), value, 10, 1);
    };
    set('a', 1);
    set('b', 1);
    set('a', 2);
    set('c', 1);
    set('d', 1);
    const found = ['a', 'b', 'c', 'd'].map((id) => shard.get(id, hashOf(id), 1));
    expect(found).toEqual([2, undefined, 1, 1]);
  });

  it('lets go of what is over without telling', () => {
    let evicted = 0;
    const shard = new Shard(100, () => void (evicted += 1));
    for (let i = 0; i < 10_000; i++) shard.set(String(i), hashOf(String(i)), i, i + 50, i);
    expect(evicted).toBe(0);
  });
});
