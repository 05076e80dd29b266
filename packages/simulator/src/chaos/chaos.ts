import type { Journal } from '../journal.ts';
import { SimulatorError } from '../simulator-error.ts';
import { CHAOS_MODES, NO_CHAOS, type ChaosSettings } from './modes.ts';

/** Which chaos modes are on, and how often each strikes. */
export class Chaos {
  readonly #journal: Journal;
  #settings = NO_CHAOS;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  get(): ChaosSettings {
    return this.#settings;
  }

  /**
   * Changes the modes that are named, and leaves the others as they are.
   * @param changes probabilities, 0 (off) to 1 (always)
   * @throws SimulatorError `invalid-input` for an unknown mode, or what is no probability
   */
  set(changes: Partial<ChaosSettings>): ChaosSettings {
    for (const [mode, probability] of Object.entries(changes) as [string, unknown][]) {
      if (!(CHAOS_MODES as readonly string[]).includes(mode))
        throw new SimulatorError(
          'invalid-input',
          `There is no such chaos mode. There are: ${CHAOS_MODES.join(', ')}.`,
        );
      if (typeof probability !== 'number' || !(probability >= 0 && probability <= 1))
        throw new SimulatorError('invalid-input', `${mode} takes a probability from 0 to 1.`);
    }
    this.#settings = Object.freeze({ ...this.#settings, ...changes });
    this.#journal.record('chaos');
    return this.#settings;
  }

  /** Every mode at once, with the same probability. @throws SimulatorError `invalid-input` */
  setAll(probability: number): ChaosSettings {
    return this.set(Object.fromEntries(CHAOS_MODES.map((mode) => [mode, probability])));
  }

  /** Switches everything off. */
  clear(): ChaosSettings {
    return this.set(NO_CHAOS);
  }
}
