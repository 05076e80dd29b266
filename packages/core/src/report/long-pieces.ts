/** The length of a piece in characters: longer values are cut into such pieces. */
export const MAX_PIECE = 20;

const isSame = (one: string, at: number, other: string, otherAt: number) => {
  for (let n = 0; n < MAX_PIECE; n++)
    if (one.charCodeAt(at + n) !== other.charCodeAt(otherAt + n)) return false;
  return true;
};

/**
 * A set of places in texts, each of which stands for its next 20 characters. To cut the pieces out and keep
 * them in a `Set` took five times as long, which is what most of a failure's time went into.
 */
export class LongPieces {
  /** Secret and random, so that a client cannot send texts that all have one hash. */
  readonly #base = Math.floor(Math.random() * 2 ** 31) | 1;
  /** What the first character of a piece counts in its hash. */
  readonly #first: number;
  readonly #texts: string[] = [];
  readonly #places: number[] = [];
  readonly #hashes: number[] = [];
  /** Numbers of pieces from 1 on, at the place of their hash or the next free one; at most half of it is full. */
  #slots = new Int32Array(2 ** 10);

  constructor() {
    let first = 1;
    for (let at = 1; at < MAX_PIECE; at++) first = Math.imul(first, this.#base);
    this.#first = first;
  }

  get size(): number {
    return this.#texts.length;
  }

  add(text: string, at: number): void {
    const hash = this.#hashAt(text, at);
    const slot = this.#slotOf(text, at, hash);
    if (this.#slots[slot] !== 0) return;
    this.#texts.push(text);
    this.#places.push(at);
    this.#hashes.push(hash);
    this.#slots[slot] = this.size;
    if (this.size * 2 > this.#slots.length) this.#grow();
  }

  /** @returns tells whether there is a piece at a place of the text; to be asked for each place, in order */
  finder(text: string): (at: number) => boolean {
    if (this.size === 0 || text.length < MAX_PIECE) return () => false;
    let hash = this.#hashAt(text, 0);
    let hashedAt = 0;
    return (at) => {
      if (at > text.length - MAX_PIECE) return false;
      for (; hashedAt < at; hashedAt++) {
        const gone = Math.imul(text.charCodeAt(hashedAt), this.#first);
        hash = this.#next((hash - gone) | 0, text.charCodeAt(hashedAt + MAX_PIECE));
      }
      return this.#slots[this.#slotOf(text, at, hash)] !== 0;
    };
  }

  #next(hash: number, character: number): number {
    return (Math.imul(hash, this.#base) + character) | 0;
  }

  /** Of the characters from a place on. */
  #hashAt(text: string, from: number): number {
    let hash = 0;
    for (let at = from; at < from + MAX_PIECE; at++) hash = this.#next(hash, text.charCodeAt(at));
    return hash;
  }

  /** Where these characters are, or the free slot where they belong. */
  #slotOf(text: string, at: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = spread(hash) & mask; ; slot = (slot + 1) & mask) {
      const number = this.#slots[slot] as number;
      if (number === 0) return slot;
      const piece = number - 1;
      if (this.#hashes[piece] !== hash) continue;
      if (isSame(this.#texts[piece] as string, this.#places[piece] as number, text, at))
        return slot;
    }
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 4);
    const mask = this.#slots.length - 1;
    for (const [piece, hash] of this.#hashes.entries()) {
      let slot = spread(hash) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = piece + 1;
    }
  }
}

/** Similar texts have hashes near each other. */
function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
