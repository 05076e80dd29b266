/** Counts what has begun and not ended. */
export class InFlightCounter {
  readonly #running = new Set<object>();

  get count(): number {
    return this.#running.size;
  }

  readonly started = (message: unknown): void => {
    this.#running.add(message as object);
  };

  /** What began before anybody listened was never counted. */
  readonly ended = (message: unknown): void => {
    this.#running.delete(message as object);
  };
}
