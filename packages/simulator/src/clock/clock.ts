import * as z from 'zod/mini';
import { SimulatorError } from '../errors.ts';
import { type Duration, parseDuration } from './duration.ts';
import type { InFlightRequests } from './in-flight-requests.ts';

export type { Duration };

const A_DURATION = 'a duration: milliseconds, or a string such as "30s", "5m" or "1h"';

/** A duration, converted to milliseconds. */
export const duration = () =>
  z.pipe(
    z.custom<Duration>((value: unknown) => parseDuration(value) !== undefined, A_DURATION),
    z.transform((value) => parseDuration(value) ?? 0),
  );

function milliseconds(given: Duration): number {
  const ms = parseDuration(given);
  if (ms === undefined) throw new SimulatorError('invalid-input', `Expected ${A_DURATION}.`);
  return ms;
}

/**
 * How time passes. `manual`: only when the clock is advanced. `real`: by itself, and it can be advanced
 * as well.
 */
export type ClockMode = 'real' | 'manual';

/**
 * The simulator's clock. Calls, retries and timeouts follow it. Signatures carry the wall time, unless
 * the option `timestamps` is `'clock'`.
 */
export interface Clock {
  /** How time passes: `'real'` or `'manual'`. */
  readonly mode: ClockMode;
  /** Returns the time of the simulator, in milliseconds since the epoch. */
  now(): number;
  /**
   * Advances the clock, runs everything that is due on the way, and waits for receivers, each for up to
   * `patience`.
   * @param by milliseconds, or a string such as `'5m'`
   * @throws SimulatorError `invalid-input` for an invalid duration
   */
  advance(by: Duration): Promise<void>;
  /**
   * Advances the clock to the next due time, and runs what is due then. Resolves to `false` if nothing
   * is due.
   */
  next(): Promise<boolean>;
  /**
   * Advances the clock until nothing is due: no call is about to end, and no event is about to be sent.
   */
  runUntilIdle(): Promise<void>;
  /**
   * Resolves after a time of the simulator's clock, for receivers in the same process.
   * @throws SimulatorError `invalid-input` for an invalid duration
   */
  sleep(duration: Duration): Promise<void>;
  /** Returns the next due time, in milliseconds since the epoch, or `undefined` if nothing is due. */
  nextDueAt(): number | undefined;
}

const MAX_TIMEOUT = 2 ** 31 - 1;

/** Something that runs at a time of the simulator's clock. */
export interface Timer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly run: () => void;
}

/** A clock that is advanced on request and, in `real` mode, also passes by itself. */
export class SimulatorClock implements Clock {
  readonly mode: ClockMode;
  /** In the order of their time. Those of the same time run in the order of creation. */
  readonly #timers: Timer[] = [];
  readonly #inFlight: InFlightRequests;
  readonly #onAdvanced: () => void;
  #time: number;
  #since = performance.now();
  #queue: Promise<unknown> = Promise.resolve();
  #wakeUp: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(
    mode: ClockMode,
    startAt: number,
    inFlight: InFlightRequests,
    onAdvanced: () => void,
  ) {
    this.mode = mode;
    this.#time = startAt;
    this.#inFlight = inFlight;
    this.#onAdvanced = onAdvanced;
  }

  now(): number {
    if (this.mode === 'manual') return this.#time;
    return Math.floor(this.#time + performance.now() - this.#since);
  }

  /** Runs something at a time. What is already due runs with the next advance, or soon on a real clock. */
  at(time: number, run: () => void): Timer {
    const timer: Timer = { at: time, run };
    const before = this.#timers.findLastIndex((one) => one.at <= time);
    this.#timers.splice(before + 1, 0, timer);
    this.#arm();
    return timer;
  }

  cancel(timer: Timer): void {
    const index = this.#timers.indexOf(timer);
    if (index >= 0) this.#timers.splice(index, 1);
  }

  nextDueAt(): number | undefined {
    return this.#timers[0]?.at;
  }

  advance(by: Duration): Promise<void> {
    const ms = milliseconds(by);
    return this.#enqueue(async () => {
      await this.#inFlight.waitWithPatience();
      await this.#advanceTo(this.now() + ms);
    });
  }

  next(): Promise<boolean> {
    return this.#enqueue(() => this.#next());
  }

  runUntilIdle(): Promise<void> {
    return this.#enqueue(async () => {
      while (await this.#next());
    });
  }

  sleep(duration: Duration): Promise<void> {
    return new Promise((resolve) =>
      this.at(this.now() + milliseconds(duration), () => {
        this.#inFlight.renew();
        resolve();
      }),
    );
  }

  /** Sets the time and removes all timers. */
  restart(time: number): void {
    this.#timers.length = 0;
    this.#set(time);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#wakeUp);
    this.#timers.length = 0;
  }

  async #next(): Promise<boolean> {
    await this.#inFlight.waitWithPatience();
    const at = this.nextDueAt();
    if (at === undefined || this.#closed) return false;
    await this.#advanceTo(Math.max(at, this.now()));
    return true;
  }

  async #advanceTo(target: number): Promise<void> {
    for (let at = this.nextDueAt(); at !== undefined && at <= target;) {
      if (at > this.now()) this.#set(at);
      this.#runDue();
      await this.#inFlight.waitWithPatience();
      at = this.nextDueAt();
    }
    if (target > this.now()) this.#set(target);
    this.#arm();
    this.#onAdvanced();
  }

  #runDue(): void {
    const now = this.now();
    for (let [due] = this.#timers; due && due.at <= now; [due] = this.#timers) {
      this.#timers.shift();
      due.run();
    }
  }

  #set(time: number): void {
    this.#time = time;
    this.#since = performance.now();
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(task);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  #arm(): void {
    clearTimeout(this.#wakeUp);
    const at = this.nextDueAt();
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
