import { status, statusLine } from '@call-webhooks/recovery';
import type { StatusShown } from './api-types.ts';
import type { ConsoleSettings } from './options.ts';

/** Each open page asks every 3 seconds; milliseconds. */
const KEPT_MS = 10_000;

/** Reads what needs attention. What it keeps is only to read less. */
export class StatusReader {
  readonly #settings: ConsoleSettings;
  #last: { at: number; shown: Promise<StatusShown> } | undefined;

  constructor(settings: ConsoleSettings) {
    this.#settings = settings;
  }

  read(now: number): Promise<StatusShown> {
    const age = this.#last ? now - this.#last.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (this.#last && age >= 0 && age < KEPT_MS) return this.#last.shown;
    const shown = this.#judge();
    this.#last = { at: now, shown };
    shown.catch(() => (this.#last = undefined));
    return shown;
  }

  async #judge(): Promise<StatusShown> {
    const judged = await status({ store: this.#settings.receiver.store });
    return { ...judged, line: statusLine(judged) };
  }
}
