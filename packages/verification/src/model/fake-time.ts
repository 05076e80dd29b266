/** Advances the fake clock, and waits until everything in progress has settled. */
export interface FakeTime {
  advance(ms: number): Promise<void>;
  /** Sets the wall clock, as an operator or NTP does. Timers and the monotonic clock are not affected. */
  setWallClock?(now: number): void;
}
