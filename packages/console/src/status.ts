import { status, type Status, statusLine } from '@call-webhooks/recovery';
import { statusOfTenant } from '@call-webhooks/recovery/internal';
import type { StatusShown } from './api-types.ts';
import type { ConsoleSettings } from './options.ts';

/** Each open page asks every 3 seconds; milliseconds. */
const KEPT_MS = 10_000;

/** Reads what needs attention. What it keeps is only to read less. */
export class StatusReader {
  readonly #settings: ConsoleSettings;
  #last: { at: number; whole: Promise<Status> } | undefined;

  constructor(settings: ConsoleSettings) {
    this.#settings = settings;
  }

  /** @param tenant whose status is wanted; that of all by default */
  async read(now: number, tenant: string | undefined): Promise<StatusShown> {
    const whole = await this.#whole(now);
    const own = statusOfTenant(whole, tenant);
    const tenants = new Set([...whole.events, ...whole.attention].map((one) => one.tenant));
    return {
      ...own,
      line: statusLine(own),
      tenants: [...tenants].filter((one) => one !== undefined).sort(),
    };
  }

  #whole(now: number): Promise<Status> {
    const age = this.#last ? now - this.#last.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (this.#last && age >= 0 && age < KEPT_MS) return this.#last.whole;
    const whole = status({ store: this.#settings.receiver.store });
    this.#last = { at: now, whole };
    whole.catch(() => (this.#last = undefined));
    return whole;
  }
}
