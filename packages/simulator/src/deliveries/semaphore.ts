/** Limits how many tasks run at once. The others wait in order. */
export class Semaphore {
  readonly #limit: number;
  readonly #queue: (() => boolean)[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Calls `start` when a slot is free: synchronously if one is free now.
   * @param start returns `true` to keep the slot until `release`, `false` when it needs none
   */
  acquire(start: () => boolean): void {
    if (this.#running >= this.#limit) this.#queue.push(start);
    else if (start()) this.#running++;
  }

  release(): void {
    this.#running--;
    while (this.#running < this.#limit) {
      const next = this.#queue.shift();
      if (!next) return;
      if (next()) this.#running++;
    }
  }
}
