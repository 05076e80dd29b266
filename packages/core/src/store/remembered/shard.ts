import { TextRing } from './text-ring.ts';

/** A slot has 17 bits for an entry's number, of which 0 is none. */
export const MOST_ENTRIES = 2 ** 17 - 1;
const ENTRY_BITS = MOST_ENTRIES;
const FIRST_ENTRIES = 256;
/** The end of an entry that was set again, and is another entry now. */
const GONE = -Infinity;

/**
 * Ids, each with a number and an end: a ring of entries, the oldest first, and a hash table of slots
 * that hold the number of an entry (open addressing, linear probing).
 *
 * What costs here is memory that is far apart. So the bits of a slot that are left hold a part of the
 * hash, and hardly ever does a search look at an entry that is not the one.
 */
export class Shard {
  readonly #maxEntries: number;
  readonly #onEvicted: () => void;
  readonly #texts = new TextRing();
  #slots = new Uint32Array(0);
  #hashes = new Uint32Array(0);
  #starts = new Uint32Array(0);
  #sizes = new Int32Array(0);
  #values = new Float64Array(0);
  #untils = new Float64Array(0);
  #oldest = 0;
  #count = 0;

  /**
   * @param maxEntries at most `MOST_ENTRIES`
   * @param onEvicted told when an id is forgotten before its time; must not throw
   */
  constructor(maxEntries: number, onEvicted: () => void) {
    this.#maxEntries = maxEntries;
    this.#onEvicted = onEvicted;
    this.#allocate(Math.min(FIRST_ENTRIES, maxEntries));
  }

  /** @param now milliseconds: what ended before is not found any more */
  get(id: string, hash: number, now: number): number | undefined {
    const entry = this.#find(id, hash);
    return entry < 0 || (this.#untils[entry] as number) < now ? undefined : this.#values[entry];
  }

  /** What is set again becomes the newest: it goes last, and takes a second place until then. */
  set(id: string, hash: number, value: number, until: number, now: number): void {
    const former = this.#find(id, hash);
    if (former >= 0) {
      this.#unpoint(former);
      this.#untils[former] = GONE;
    }
    const entry = this.#append(id, hash, now);
    this.#values[entry] = value;
    this.#untils[entry] = until;
  }

  #find(id: string, hash: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = hash & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const slot = slots[at] as number;
      if (((slot ^ hash) & ~ENTRY_BITS) !== 0) continue;
      const entry = (slot & ENTRY_BITS) - 1;
      if (this.#texts.holds(id, this.#starts[entry] as number, this.#sizes[entry] as number))
        return entry;
    }
    return -1;
  }

  #append(id: string, hash: number, now: number): number {
    this.#makeRoom(now);
    const entry = (this.#oldest + this.#count++) % this.#hashes.length;
    this.#hashes[entry] = hash;
    this.#starts[entry] = this.#texts.end;
    this.#sizes[entry] = this.#texts.append(id);
    this.#point(entry, hash);
    return entry;
  }

  /** Lets go of what is over, two for each that comes, so that a busy hour is not kept for ever. */
  #makeRoom(now: number): void {
    for (let i = 0; i < 2 && this.#count > 0 && this.#isOver(now); i++) this.#dropOldest();
    if (this.#count < this.#hashes.length) return;
    if (this.#count < this.#maxEntries) {
      this.#allocate(Math.min(2 * this.#count, this.#maxEntries));
      return;
    }
    this.#onEvicted();
    this.#dropOldest();
  }

  #isOver(now: number): boolean {
    return (this.#untils[this.#oldest] as number) < now;
  }

  /** Puts an entry into the first slot that is free for its hash. */
  #point(entry: number, hash: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let at = hash & mask;
    while (slots[at] !== 0) at = (at + 1) & mask;
    slots[at] = (hash & ~ENTRY_BITS) | (entry + 1);
  }

  #dropOldest(): void {
    const entry = this.#oldest;
    if (this.#untils[entry] !== GONE) this.#unpoint(entry);
    this.#texts.dropOldest(this.#sizes[entry] as number);
    this.#oldest = (entry + 1) % this.#hashes.length;
    this.#count -= 1;
  }

  /** Frees a slot, and moves those behind it up that could not have theirs because of it. */
  #unpoint(entry: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let hole = (this.#hashes[entry] as number) & mask;
    while (((slots[hole] as number) & ENTRY_BITS) !== entry + 1) hole = (hole + 1) & mask;
    for (let at = (hole + 1) & mask; slots[at] !== 0; at = (at + 1) & mask) {
      const slot = slots[at] as number;
      const home = this.#hashes[(slot & ENTRY_BITS) - 1] as number;
      if (((at - home) & mask) < ((at - hole) & mask)) continue;
      slots[hole] = slot;
      hole = at;
    }
    slots[hole] = 0;
  }

  /** Room for so many entries; those that there are keep their order. */
  #allocate(entries: number): void {
    const order = Array.from(
      { length: this.#count },
      (_none, nth) => (this.#oldest + nth) % this.#hashes.length,
    );
    const inOrder = <Numbers extends Uint32Array | Int32Array | Float64Array>(
      from: Numbers,
      to: Numbers,
    ): Numbers => {
      order.forEach((entry, nth) => (to[nth] = from[entry] as number));
      return to;
    };
    this.#hashes = inOrder(this.#hashes, new Uint32Array(entries));
    this.#starts = inOrder(this.#starts, new Uint32Array(entries));
    this.#sizes = inOrder(this.#sizes, new Int32Array(entries));
    this.#values = inOrder(this.#values, new Float64Array(entries));
    this.#untils = inOrder(this.#untils, new Float64Array(entries));
    this.#oldest = 0;
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(2 * entries)));
    for (let entry = 0; entry < this.#count; entry++)
      if (this.#untils[entry] !== GONE) this.#point(entry, this.#hashes[entry] as number);
  }
}
