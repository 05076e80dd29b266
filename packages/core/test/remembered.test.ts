import { describe, expect, it } from '@jest/globals';
import { Remembered } from '../src/remembered.ts';

function setup(maxEntries: number) {
  const state = { now: 1_000, evicted: 0 };
  const remembered = new Remembered<number>({
    maxEntries,
    ttl: 500,
    now: () => state.now,
    onEvicted: () => void (state.evicted += 1),
  });
  return { state, remembered };
}

describe('Remembered', () => {
  it('keeps a value for its own time, or for the time of all', () => {
    const { state, remembered } = setup(10);
    remembered.set('a', 1);
    remembered.set('b', 2, 2_000);
    expect([remembered.get('a'), remembered.get('b'), remembered.get('c')]).toEqual([
      1,
      2,
      undefined,
    ]);
    state.now += 501;
    expect([remembered.get('a'), remembered.get('b')]).toEqual([undefined, 2]);
    state.now += 2_000;
    expect(remembered.get('b')).toBeUndefined();
    expect(state.evicted).toBe(0);
  });

  it('tells what it forgets before its time, and only that', () => {
    const { state, remembered } = setup(2);
    for (const id of ['a', 'b', 'c']) remembered.set(id, 1);
    expect(state.evicted).toBe(1);
    expect(remembered.get('a')).toBeUndefined();
    state.now += 501;
    for (const id of ['d', 'e']) remembered.set(id, 1);
    expect(state.evicted).toBe(1);
  });

  it('is bounded as a whole when it is made of several shards, and spreads ids evenly over them', () => {
    const { state, remembered } = setup(110_000);
    const id = (number: number) => `call-${number}:call:completed`;
    for (let i = 0; i < 130_000; i++) remembered.set(id(i), i);
    let kept = 0;
    for (let i = 0; i < 130_000; i++) if (remembered.get(id(i)) === i) kept += 1;
    expect(kept).toBe(130_000 - state.evicted);
    expect(kept).toBeLessThanOrEqual(110_000);
    expect(kept).toBeGreaterThan(109_000);
    for (let i = 25_000; i < 130_000; i += 1_000) expect(remembered.get(id(i))).toBe(i);
  });

  it.each([NaN, -1, 1.5])('can not be made for %p entries', (maxEntries) => {
    expect(() => setup(maxEntries)).toThrow();
  });
});
