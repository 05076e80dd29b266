import * as z from 'zod/mini';
import { checked, numberFrom } from './errors.ts';
import type { ChangeEmitter } from './records.ts';
import type { SeededRandom } from './seeded-random.ts';

const probability = () => z._default(numberFrom(0, 1), 0);

/** A probability for each fault that the simulator can inject. The README describes each. */
export const CHAOS = z.strictObject({
  duplicate: probability(),
  concurrentDuplicates: probability(),
  reorder: probability(),
  dropResponse: probability(),
  slowBody: probability(),
  wrongSecret: probability(),
  oldSecret: probability(),
  clockSkew: probability(),
  replay: probability(),
  tamperedBody: probability(),
});

/** The probability of each chaos mode, from 0 (never, the default) to 1 (always). */
export type ChaosSettings = Readonly<z.output<typeof CHAOS>>;

/**
 * The name of a fault that the simulator can inject, such as `duplicate`. The README describes each.
 */
export type ChaosMode = keyof ChaosSettings;

/** The names of all chaos modes. */
export const CHAOS_MODES = Object.keys(CHAOS.shape) as readonly ChaosMode[];

/**
 * The faults that the simulator injects. Chaos never makes the last attempt of an event fail, so it
 * never pauses a rule.
 */
export class Chaos {
  readonly #changes: ChangeEmitter;
  #settings: ChaosSettings;

  constructor(changes: ChangeEmitter, settings: ChaosSettings) {
    this.#changes = changes;
    this.#settings = settings;
  }

  /** Returns the probability of each mode. */
  get(): ChaosSettings {
    return this.#settings;
  }

  /**
   * Sets the probabilities of the given modes and leaves the others unchanged.
   * @param changes probabilities, from 0 (off) to 1 (always)
   * @returns the probabilities of all modes
   * @throws SimulatorError `invalid-input` for an unknown mode or an invalid probability
   * @example
   * simulator.chaos.set({ duplicate: 0.2, dropResponse: 0.1 });
   */
  set(changes: Partial<ChaosSettings>): ChaosSettings {
    this.#settings = Object.freeze(checked(CHAOS, { ...this.#settings, ...changes }));
    this.#changes.emit('chaos');
    return this.#settings;
  }

  /**
   * Sets every mode to the same probability, from 0 to 1.
   * @throws SimulatorError `invalid-input`
   */
  setAll(value: number): ChaosSettings {
    return this.set(Object.fromEntries(CHAOS_MODES.map((mode) => [mode, value])));
  }

  /** Turns every mode off. */
  clear(): ChaosSettings {
    return this.setAll(0);
  }
}

/** Milliseconds of the simulator's clock. */
const DUPLICATE_AFTER: readonly [number, number] = [500, 10_000];
const REORDER_DELAY: readonly [number, number] = [1_000, 60_000];
const MAX_CONCURRENT_COPIES = 3;
/** Seconds. More than the spec's tolerance of five minutes. */
const SKEW: readonly [number, number] = [360, 900];

const ATTEMPT_MODES: readonly ChaosMode[] = [
  'dropResponse',
  'slowBody',
  'wrongSecret',
  'oldSecret',
  'clockSkew',
  'replay',
  'tamperedBody',
];
/** Modes that cannot make an attempt fail. */
const HARMLESS_MODES: readonly ChaosMode[] = ['slowBody', 'replay'];

/** What chaos does to a new event. */
export interface EventPlan {
  /** Milliseconds by which the event is delayed, so that later ones overtake it. */
  readonly delayMs: number;
  /** Extra copies, and how many milliseconds after the event each is sent. */
  readonly copies: readonly { by: 'duplicate' | 'concurrentDuplicates'; afterMs: number }[];
}

/** Plans the chaos of an event. The same seed, settings and id give the same plan. */
export function planEvent(random: SeededRandom, chaos: ChaosSettings, id: string): EventPlan {
  const applies = (mode: keyof ChaosSettings) => random.chance(chaos[mode], mode, id);
  const copies: EventPlan['copies'][number][] = [];
  if (applies('duplicate'))
    copies.push({
      by: 'duplicate',
      afterMs: random.whole(...DUPLICATE_AFTER, 'duplicate-after', id),
    });
  if (applies('concurrentDuplicates')) {
    const count = random.whole(1, MAX_CONCURRENT_COPIES, 'concurrent-count', id);
    for (let copy = 0; copy < count; copy++)
      copies.push({ by: 'concurrentDuplicates', afterMs: 0 });
  }
  const delayMs = applies('reorder') ? random.whole(...REORDER_DELAY, 'reorder-delay', id) : 0;
  return { delayMs, copies };
}

/** What chaos does to one attempt. */
export interface AttemptPlan {
  readonly modes: ReadonlySet<ChaosMode>;
  /** Seconds by which the timestamp is off; 0 without `clockSkew`. */
  readonly skewSeconds: number;
}

/**
 * Plans the chaos of an attempt. The same seed, settings, id and attempt give the same plan.
 * @param attempt.last the last attempt gets harmless modes only, so that only the receiver decides
 *   whether the rule is paused
 */
export function planAttempt(
  random: SeededRandom,
  chaos: ChaosSettings,
  { id, attempt, last }: { id: string; attempt: number; last: boolean },
): AttemptPlan {
  const modes = new Set(
    ATTEMPT_MODES.filter(
      (mode) =>
        (!last || HARMLESS_MODES.includes(mode)) && random.chance(chaos[mode], mode, id, attempt),
    ),
  );
  const ahead = random.chance(0.5, 'skew-ahead', id, attempt);
  const skew = random.whole(...SKEW, 'skew', id, attempt) * (ahead ? 1 : -1);
  return { modes, skewSeconds: modes.has('clockSkew') ? skew : 0 };
}

/**
 * Changes one digit of a body: it stays valid JSON, but is no longer what was signed.
 * @param fraction a random number from 0 to 1 that selects the digit
 */
export function tamper(body: string, fraction: number): string {
  const digits = [...body.matchAll(/[1-9]/g)];
  const digit = digits[Math.floor(fraction * digits.length)];
  if (!digit) return `${body} `;
  const other = digit[0] === '9' ? '1' : String(Number(digit[0]) + 1);
  return body.slice(0, digit.index) + other + body.slice(digit.index + 1);
}
