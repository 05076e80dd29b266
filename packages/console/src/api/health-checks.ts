import type { HealthReport } from '../api-types.ts';
import type { ConsoleReceiver } from '../options.ts';

/** How long an answer is used again; milliseconds. */
const KEPT_MS = 5_000;

/** Asks a receiver how it is, at most every 5 seconds: each open page asks. */
export class HealthChecks {
  readonly #receiver: ConsoleReceiver;
  readonly #now: () => number;
  #last: { at: number; report: Promise<HealthReport> } | undefined;

  constructor(receiver: ConsoleReceiver, now: () => number) {
    this.#receiver = receiver;
    this.#now = now;
  }

  report(): Promise<HealthReport> {
    const checkedAt = this.#now();
    const age = this.#last ? checkedAt - this.#last.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (!this.#last || age < 0 || age >= KEPT_MS) {
      const report = this.#receiver.health().then((health) => ({ ...health, checkedAt }));
      report.catch(() => (this.#last = undefined));
      this.#last = { at: checkedAt, report };
    }
    return this.#last.report;
  }
}
