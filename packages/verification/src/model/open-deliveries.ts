import type { Outcome } from '@call-webhooks/core';
import type { Sent } from './foresight.ts';
import type { Ledger } from './ledger.ts';
import type { Machine } from './machine.ts';
import { must } from './violation.ts';

/** A delivery that waits for its answer. */
export interface Open {
  readonly sent: Sent;
  readonly machine: Machine;
  readonly since: number;
  expected: readonly string[];
  answer?: Outcome;
}

/** The receiver's default; milliseconds. */
const ACK_WITHIN_MS = 20_000;
const A_TIMERS_GRAIN_MS = 10;

/** The deliveries that the service waits for. */
export class OpenDeliveries {
  #open: Open[] = [];

  add(open: Open): void {
    this.#open.push(open);
  }

  /** Changes what a delivery is to be answered, if it still waits. */
  expect(webhookId: string, expected: readonly string[]): void {
    for (const open of this.#open) if (open.sent.webhookId === webhookId) open.expected = expected;
  }

  expectOfAll(machine: Machine, expected: readonly string[]): void {
    for (const open of this.#open) if (open.machine === machine) open.expected = expected;
  }

  /** Their connections broke. */
  bury(machine: Machine): void {
    this.#open = this.#open.filter((open) => open.machine !== machine);
  }

  /** Takes the answers that have come. @throws Violation for a late or an unforeseen one */
  check(ledger: Ledger, now: number): void {
    for (const { answer, sent, expected, since } of this.#open) {
      const { key, webhookId, behaviour } = sent;
      if (!answer) {
        must(now - since <= ACK_WITHIN_MS + A_TIMERS_GRAIN_MS, `${key}: no answer in time`);
        continue;
      }
      must(
        expected.includes(answer.outcome),
        `${key} (${webhookId}, ${behaviour}): ${answer.outcome}, expected ${expected.join(' or ')}`,
      );
      ledger.answer(key, answer);
    }
    this.#open = this.#open.filter(({ answer }) => !answer);
  }
}
