import { status, type Status, statusLine } from '@call-webhooks/recovery';
import { groupedAttention, statusOfTenant } from '@call-webhooks/recovery/internal';
import type { StatusShown } from './api-types.ts';
import type { ConsoleSettings } from './options.ts';

/** Each open page asks every 3 seconds; milliseconds. */
const KEPT_MS = 10_000;

/** Readers in more time zones at once read it anew. */
const MOST_ZONES = 16;

/** Which status is wanted. */
export interface StatusQuery {
  /** That of all tenants by default. */
  readonly tenant?: string | undefined;
  /** Of the times in its texts; that of the process by default. */
  readonly timeZone?: string | undefined;
}

/** Reads what needs attention. What it keeps is only to read less. */
export class StatusReader {
  readonly #settings: ConsoleSettings;
  /** By time zone. */
  readonly #last = new Map<string, { at: number; whole: Promise<Status> }>();

  constructor(settings: ConsoleSettings) {
    this.#settings = settings;
  }

  async read(now: number, { tenant, timeZone }: StatusQuery): Promise<StatusShown> {
    const whole = await this.#whole(now, timeZone);
    const own = statusOfTenant(whole, tenant);
    const tenants = new Set([...whole.events, ...whole.attention].map((one) => one.tenant));
    return {
      ...own,
      line: statusLine(own),
      groups: groupedAttention(own.attention),
      tenants: [...tenants].filter((one) => one !== undefined).sort(),
    };
  }

  #whole(now: number, timeZone: string | undefined): Promise<Status> {
    const zone = timeZone ?? '';
    const last = this.#last.get(zone);
    const age = last ? now - last.at : Infinity;
    // A clock that was set back must not keep an old answer.
    if (last && age >= 0 && age < KEPT_MS) return last.whole;
    if (this.#last.size >= MOST_ZONES) this.#last.clear();
    const { receiver, deadLetters } = this.#settings;
    const whole = status({ store: receiver.store, deadLetters, timeZone });
    this.#last.set(zone, { at: now, whole });
    whole.catch(() => this.#last.delete(zone));
    return whole;
  }
}
