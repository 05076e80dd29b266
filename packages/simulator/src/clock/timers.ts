/** Something that runs at a time of the simulator's clock. */
export interface Timer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  cancel(): void;
}

interface Entry {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** A binary heap of timers, the earliest first. Timers of the same time run in the order of creation. */
export class Timers {
  readonly #heap: Entry[] = [];
  #added = 0;

  add(at: number, run: () => void): Timer {
    const entry: Entry = { at, order: this.#added++, run };
    this.#heap.push(entry);
    this.#rise(this.#heap.length - 1);
    return {
      at,
      cancel() {
        entry.run = undefined;
      },
    };
  }

  /** The time of the next timer; `undefined` when there is none. */
  nextAt(): number | undefined {
    while (this.#heap[0] && !this.#heap[0].run) this.#takeFirst();
    return this.#heap[0]?.at;
  }

  /** Removes the next timer if it is due by `now`. */
  take(now: number): (() => void) | undefined {
    const at = this.nextAt();
    return at !== undefined && at <= now ? this.#takeFirst()?.run : undefined;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  #takeFirst(): Entry | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (last && last !== first) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(index: number): void {
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#before(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #sink(): void {
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      const child = this.#before(left + 1, left) ? left + 1 : left;
      if (!this.#before(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }

  #before(one: number, other: number): boolean {
    const a = this.#heap[one];
    const b = this.#heap[other];
    if (!a) return false;
    return !b || a.at < b.at || (a.at === b.at && a.order < b.order);
  }

  #swap(one: number, other: number): void {
    const a = this.#heap[one];
    const b = this.#heap[other];
    if (a && b) [this.#heap[one], this.#heap[other]] = [b, a];
  }
}
