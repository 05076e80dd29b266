import type { Outcome, DeadLetter } from '@call-webhooks/core';
import { isAcknowledged, lawfulStatus } from './answer-law.ts';
import { must } from './violation.ts';

interface Entry {
  /** Handlers that came to a good end, on a machine that lived. */
  effects: number;
  parked: boolean;
  lastAttempt: number;
}

/** What really happened to each event, whatever anybody says of it. */
export class Ledger {
  readonly #entries = new Map<string, Entry>();
  readonly #unacknowledged = new Set<string>();
  /** How often each outcome was answered, and each other thing of note happened. */
  readonly counts = new Map<string, number>();

  /** The events that the service has sent, and that nobody has acknowledged. */
  get unacknowledged(): readonly string[] {
    return [...this.#unacknowledged];
  }

  note(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  sent(key: string): void {
    this.#unacknowledged.add(key);
  }

  effect(key: string): void {
    this.#entry(key).effects++;
  }

  parked({ key }: DeadLetter): void {
    if (key !== undefined) this.#entry(key).parked = true;
  }

  /** @throws Violation when the attempt is not a later one than the last */
  attempt(key: string, attempt: number): void {
    const entry = this.#entry(key);
    must(
      attempt > entry.lastAttempt,
      `${key}: attempt ${String(attempt)} after ${String(entry.lastAttempt)}`,
    );
    entry.lastAttempt = attempt;
  }

  /** @throws Violation for an answer outside the table, or an acknowledgement without an effect */
  answer(key: string, { outcome, status }: Outcome): void {
    this.note(outcome);
    must(lawfulStatus(outcome) === status, `${key}: ${outcome} was answered ${String(status)}`);
    const { effects, parked } = this.#entry(key);
    must(
      !isAcknowledged(outcome) || effects > 0 || parked,
      `${key}: acknowledged as ${outcome}, and nothing was done`,
    );
    if (isAcknowledged(outcome)) this.#unacknowledged.delete(key);
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const entry = { effects: 0, parked: false, lastAttempt: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}
