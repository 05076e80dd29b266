import type { Outcome } from '@call-webhooks/core';
import type { SentRequest } from './predict.ts';
import type { EventLog } from './event-log.ts';
import type { Machine } from './machine.ts';
import { assertThat } from './assert.ts';

/** A delivery that waits for its response. */
export interface OpenDelivery {
  readonly sent: SentRequest;
  readonly machine: Machine;
  readonly since: number;
  expected: readonly string[];
  outcome?: Outcome;
}

/** The receiver's default; milliseconds. */
const ACK_WITHIN_MS = 20_000;
const TIMER_TOLERANCE_MS = 10;

/** The deliveries whose responses the service is waiting for. */
export class OpenDeliveries {
  #open: OpenDelivery[] = [];

  add(open: OpenDelivery): void {
    this.#open.push(open);
  }

  /** Changes the expected outcomes of a delivery, if it is still waiting. */
  expect(webhookId: string, expected: readonly string[]): void {
    for (const open of this.#open) if (open.sent.webhookId === webhookId) open.expected = expected;
  }

  expectOfAll(machine: Machine, expected: readonly string[]): void {
    for (const open of this.#open) if (open.machine === machine) open.expected = expected;
  }

  /** Its connections broke. */
  removeMachine(machine: Machine): void {
    this.#open = this.#open.filter((open) => open.machine !== machine);
  }

  /** Checks the responses so far. @throws Violation for a late or an unexpected one */
  check(log: EventLog): void {
    const now = performance.now();
    for (const { outcome, sent, expected, since } of this.#open) {
      const { key, webhookId, behaviour } = sent;
      if (!outcome) {
        assertThat(
          now - since <= ACK_WITHIN_MS + TIMER_TOLERANCE_MS,
          `${key}: no response in time`,
        );
        continue;
      }
      assertThat(
        expected.includes(outcome.outcome),
        `${key} (${webhookId}, ${behaviour}): ${outcome.outcome}, expected ${expected.join(' or ')}`,
      );
      log.responded(key, outcome);
    }
    this.#open = this.#open.filter(({ outcome }) => !outcome);
  }
}
