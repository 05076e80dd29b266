import { milliseconds, type Duration } from './duration.ts';
import type { InFlightRequests } from './in-flight-requests.ts';
import { Timers, type Timer } from './timers.ts';

/** `manual`: time stands still unless it is turned. `real`: it passes, and can be turned ahead too. */
export type ClockMode = 'real' | 'manual';

/** The simulator's time. Retries, time-outs and calls obey it; signatures carry the wall time. */
export interface Clock {
  readonly mode: ClockMode;
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Turns the clock ahead, doing on the way everything that falls due, and waits for receivers.
   * @param by milliseconds, or a text such as `'5m'`
   * @throws SimulatorError `invalid-input` for something that is no duration
   */
  advance(by: Duration): Promise<void>;
  /** Turns the clock to the next thing that is due. `false` when nothing is. */
  next(): Promise<boolean>;
  /** Turns the clock until nothing is left to be done: every delivery is acknowledged or given up. */
  runUntilIdle(): Promise<void>;
  /** Resolves after so much of the simulator's time: for receivers in the same process. */
  sleep(duration: Duration): Promise<void>;
  /** When the next thing is due, in milliseconds since the epoch; `undefined` when nothing is. */
  nextDueAt(): number | undefined;
}

const MAX_TIMEOUT = 2 ** 31 - 1;

/** A clock that is turned by hand, and in `real` mode flows by itself in between. */
export class SimulatorClock implements Clock {
  readonly mode: ClockMode;
  readonly #timers = new Timers();
  readonly #inFlight: InFlightRequests;
  readonly #onTurned: () => void;
  #time: number;
  #since = performance.now();
  #turns: Promise<unknown> = Promise.resolve();
  #wakeUp: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(mode: ClockMode, startAt: number, inFlight: InFlightRequests, onTurned: () => void) {
    this.mode = mode;
    this.#time = startAt;
    this.#inFlight = inFlight;
    this.#onTurned = onTurned;
  }

  now(): number {
    if (this.mode === 'manual') return this.#time;
    return Math.floor(this.#time + performance.now() - this.#since);
  }

  /** Runs something at a time; what is due already runs at the clock's next turn, or at once if it flows. */
  at(time: number, run: () => void): Timer {
    const timer = this.#timers.add(time, run);
    this.#arm();
    return timer;
  }

  nextDueAt(): number | undefined {
    return this.#timers.nextAt();
  }

  advance(by: Duration): Promise<void> {
    const ms = milliseconds(by);
    return this.#inTurn(async () => {
      await this.#inFlight.waitWithPatience();
      await this.#turnTo(this.now() + ms);
    });
  }

  next(): Promise<boolean> {
    return this.#inTurn(() => this.#next());
  }

  runUntilIdle(): Promise<void> {
    return this.#inTurn(async () => {
      while (await this.#next());
    });
  }

  sleep(duration: Duration): Promise<void> {
    return new Promise((resolve) => {
      this.at(this.now() + milliseconds(duration), () => {
        this.#inFlight.renew();
        resolve();
      });
    });
  }

  /** Sets the time and forgets every timer: for a reset, or a restored snapshot. */
  restart(time: number): void {
    this.#timers.clear();
    this.#set(time);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#wakeUp);
    this.#timers.clear();
  }

  async #next(): Promise<boolean> {
    await this.#inFlight.waitWithPatience();
    const at = this.#timers.nextAt();
    if (at === undefined || this.#closed) return false;
    await this.#turnTo(Math.max(at, this.now()));
    return true;
  }

  async #turnTo(target: number): Promise<void> {
    for (let at = this.#timers.nextAt(); at !== undefined && at <= target;) {
      if (at > this.now()) this.#set(at);
      this.#runDue();
      await this.#inFlight.waitWithPatience();
      at = this.#timers.nextAt();
    }
    if (target > this.now()) this.#set(target);
    this.#arm();
    this.#onTurned();
  }

  #runDue(): void {
    const now = this.now();
    for (let run = this.#timers.take(now); run; run = this.#timers.take(now)) run();
  }

  #set(time: number): void {
    this.#time = time;
    this.#since = performance.now();
  }

  #inTurn<T>(turn: () => Promise<T>): Promise<T> {
    const result = this.#turns.then(turn);
    this.#turns = result.catch(() => undefined);
    return result;
  }

  #arm(): void {
    clearTimeout(this.#wakeUp);
    const at = this.#timers.nextAt();
    if (this.mode === 'manual' || at === undefined || this.#closed) return;
    this.#wakeUp = setTimeout(
      () => {
        this.#runDue();
        this.#arm();
      },
      Math.min(MAX_TIMEOUT, Math.max(0, Math.ceil(at - this.now()))),
    );
  }
}
