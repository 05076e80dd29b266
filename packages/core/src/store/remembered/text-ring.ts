const FIRST_BYTES = 1_024;

/**
 * Texts in the order in which they came, as bytes in one ring. Strings that are kept are copied by
 * the garbage collector while they are young and walked over ever after: of a delivery that costs
 * more than its signature.
 *
 * Positions only grow. The ring's length is a power of two, so the low bits of a position say where
 * in the ring it is, and it may be kept in 32 bits.
 */
export class TextRing {
  #bytes = new Uint8Array(FIRST_BYTES);
  #begin = 0;
  #end = 0;

  /** Where the next text will begin. */
  get end(): number {
    return this.#end;
  }

  /** @returns the text's size: its length, negative where it takes two bytes a character */
  append(text: string): number {
    const { length } = text;
    this.#makeRoom(length);
    const bytes = this.#bytes;
    const mask = bytes.length - 1;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0xff) return this.#appendWide(text);
      bytes[(this.#end + i) & mask] = code;
    }
    this.#end += length;
    return length;
  }

  #appendWide(text: string): number {
    const { length } = text;
    this.#makeRoom(2 * length);
    const bytes = this.#bytes;
    const mask = bytes.length - 1;
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i);
      bytes[(this.#end + 2 * i) & mask] = code;
      bytes[(this.#end + 2 * i + 1) & mask] = code >>> 8;
    }
    this.#end += 2 * length;
    return -length;
  }

  /** Whether the text that begins at `start`, of this size, is `text`. */
  holds(text: string, start: number, size: number): boolean {
    const { length } = text;
    if (length !== Math.abs(size)) return false;
    const bytes = this.#bytes;
    const mask = bytes.length - 1;
    const width = size < 0 ? 2 : 1;
    for (let i = 0; i < length; i++) {
      const at = start + i * width;
      const high = width === 2 ? (bytes[(at + 1) & mask] as number) << 8 : 0;
      if (text.charCodeAt(i) !== ((bytes[at & mask] as number) | high)) return false;
    }
    return true;
  }

  /** Forgets the oldest text, which has this size. */
  dropOldest(size: number): void {
    this.#begin += size < 0 ? -2 * size : size;
  }

  #makeRoom(more: number): void {
    const old = this.#bytes;
    const needed = this.#end - this.#begin + more;
    if (needed <= old.length) return;
    const bytes = new Uint8Array(2 ** Math.ceil(Math.log2(needed)));
    let at = this.#begin;
    while (at < this.#end) {
      const from = at & (old.length - 1);
      const to = at & (bytes.length - 1);
      const run = Math.min(this.#end - at, old.length - from, bytes.length - to);
      bytes.set(old.subarray(from, from + run), to);
      at += run;
    }
    this.#bytes = bytes;
  }
}
