import type { Outcome, DeadLetter } from '@call-webhooks/core';
import { isAcknowledged, expectedStatus } from './expected-statuses.ts';
import { assertThat } from './assert.ts';

interface Entry {
  /** Handlers that succeeded on a machine that was alive. */
  effects: number;
  deadLettered: boolean;
  lastAttempt: number;
}

/** What really happened to each event, as opposed to what the receivers report. */
export class EventLog {
  readonly #entries = new Map<string, Entry>();
  readonly #unacknowledged = new Set<string>();
  /** How many times each outcome and each other noteworthy thing occurred. */
  readonly counts = new Map<string, number>();

  /** The events that were sent, and not acknowledged yet. */
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

  hasEffect(key: string): boolean {
    return this.#entry(key).effects > 0;
  }

  deadLettered({ key }: DeadLetter): void {
    if (key !== undefined) this.#entry(key).deadLettered = true;
  }

  /** @throws Violation when the attempt number is not higher than the last one */
  attempt(key: string, attempt: number): void {
    const entry = this.#entry(key);
    assertThat(
      attempt > entry.lastAttempt,
      `${key}: attempt ${String(attempt)} after ${String(entry.lastAttempt)}`,
    );
    entry.lastAttempt = attempt;
  }

  /** @throws Violation for a wrong status, or an acknowledgement without an effect */
  responded(key: string, { outcome, status }: Outcome): void {
    this.note(outcome);
    assertThat(
      expectedStatus(outcome) === status,
      `${key}: ${outcome} has status ${String(status)}`,
    );
    const { effects, deadLettered } = this.#entry(key);
    assertThat(
      !isAcknowledged(outcome) || effects > 0 || deadLettered,
      `${key}: acknowledged as ${outcome} without an effect`,
    );
    if (isAcknowledged(outcome)) this.#unacknowledged.delete(key);
  }

  #entry(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) return known;
    const entry = { effects: 0, deadLettered: false, lastAttempt: 0 };
    this.#entries.set(key, entry);
    return entry;
  }
}
