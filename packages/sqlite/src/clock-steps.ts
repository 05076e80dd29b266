/** A smaller difference is drift, or the resolution of the clocks; milliseconds. */
const STEP_MS = 1_000;

/** Notices when the wall clock was set back, by comparing it with a monotonic clock. */
export class ClockSteps {
  #offset: number | undefined;

  /**
   * Whether the clock was set back since the last call. True for the first call as well: it may have
   * been set back before this process started.
   */
  wasSetBack(now: number): boolean {
    const offset = now - performance.now();
    const before = this.#offset ?? Infinity;
    this.#offset = offset;
    return offset < before - STEP_MS;
  }
}
