/** A number from 0 to 1, without 1. */
export type Random = () => number;

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Entry {
  readonly at: number;
  readonly n: number;
  readonly happens: () => unknown;
}

const isBefore = (one: Entry, other: Entry) =>
  one.at < other.at || (one.at === other.at && one.n < other.n);

/** What will happen, in the order of its time: a binary heap. */
export class Agenda {
  now: number;
  readonly #heap: Entry[] = [];
  #count = 0;

  constructor(now: number) {
    this.now = now;
  }

  /** @param at milliseconds since the epoch */
  at(at: number, happens: () => unknown): void {
    const heap = this.#heap;
    const entry = { at, n: (this.#count += 1), happens };
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  /** Lets everything happen until a time, including what promises have to do in between. */
  async runUntil(time: number): Promise<void> {
    while ((this.#heap[0]?.at ?? Infinity) <= time) {
      const { at, happens } = this.#next();
      this.now = Math.max(this.now, at);
      if (happens() === SETTLES) await settled();
    }
    this.now = time;
    await settled();
  }

  #next(): Entry {
    const heap = this.#heap;
    const first = heap[0] as Entry;
    const last = heap.pop() as Entry;
    if (heap.length === 0) return first;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && isBefore(right, heap[child] as Entry)) child += 1;
      const below = heap[child] as Entry;
      if (!isBefore(below, last)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = last;
    return first;
  }
}

/** What happens returns it if promises go on with it. */
export const SETTLES = Symbol('settles');

const settled = () => new Promise((resolve) => setImmediate(resolve));
