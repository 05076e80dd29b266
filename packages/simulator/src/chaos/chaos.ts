import type { ChangeEmitter } from '../change-emitter.ts';
import { SimulatorError } from '../simulator-error.ts';

/** The faults that the simulator can inject. The README describes each. */
export const CHAOS_MODES = [
  'duplicate',
  'concurrentDuplicates',
  'reorder',
  'dropResponse',
  'slowBody',
  'wrongSecret',
  'oldSecret',
  'clockSkew',
  'replay',
  'tamperedBody',
] as const;

/** One kind of fault. */
export type ChaosMode = (typeof CHAOS_MODES)[number];

/** A probability for each mode, from 0 (never, the default) to 1 (always). */
export type ChaosSettings = Readonly<Record<ChaosMode, number>>;

export const NO_CHAOS = Object.freeze(
  Object.fromEntries(CHAOS_MODES.map((mode) => [mode, 0])),
) as ChaosSettings;

/** Which chaos modes are on, and how likely each is. */
export class Chaos {
  readonly #changes: ChangeEmitter;
  #settings = NO_CHAOS;

  constructor(changes: ChangeEmitter) {
    this.#changes = changes;
  }

  get(): ChaosSettings {
    return this.#settings;
  }

  /**
   * Sets the given modes and leaves the others unchanged.
   * @param changes probabilities, from 0 (off) to 1 (always)
   * @throws SimulatorError `invalid-input` for an unknown mode or an invalid probability
   */
  set(changes: Partial<ChaosSettings>): ChaosSettings {
    for (const [mode, probability] of Object.entries(changes) as [string, unknown][]) {
      if (!(CHAOS_MODES as readonly string[]).includes(mode))
        throw new SimulatorError(
          'invalid-input',
          `Unknown chaos mode. The modes are: ${CHAOS_MODES.join(', ')}.`,
        );
      if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1))
        throw new SimulatorError(
          'invalid-input',
          `The probability of ${mode} must be a number from 0 to 1.`,
        );
    }
    this.#settings = Object.freeze({ ...this.#settings, ...changes });
    this.#changes.emit('chaos');
    return this.#settings;
  }

  /** Sets every mode to the same probability. @throws SimulatorError `invalid-input` */
  setAll(probability: number): ChaosSettings {
    return this.set(Object.fromEntries(CHAOS_MODES.map((mode) => [mode, probability])));
  }

  /** Turns every mode off. */
  clear(): ChaosSettings {
    return this.set(NO_CHAOS);
  }
}
