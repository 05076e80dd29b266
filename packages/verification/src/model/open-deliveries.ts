import type { Outcome } from '@call-webhooks/core';
import type { SentRequest } from './service.ts';
import type { EventLog } from './event-log.ts';
import type { EventModel } from './event-model.ts';
import type { Machine } from './machine.ts';
import type { RunningHandlers } from './running-handlers.ts';
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
/** Between two claims of a delivery that waits: 550 ms at most, and 1 s for a call of the store. */
const LONGEST_PAUSE_MS = 1_600;

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

  /** @throws Violation when a delivery goes on waiting although nothing of its group runs */
  checkWaits(running: RunningHandlers<unknown>, model: EventModel, log: EventLog): void {
    for (const { outcome, sent, machine } of this.#open) {
      if (outcome || running.has(sent.webhookId)) continue;
      if (machine.store.fault === 'none') log.note('a wait for a group');
      assertThat(
        machine.store.fault !== 'none' || model.freeFor(sent.group) <= LONGEST_PAUSE_MS,
        `${sent.key}: waits although its group is free`,
      );
    }
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
      if (outcome.waitMs !== undefined) log.note(`${outcome.outcome} after a wait`);
      log.responded(key, outcome);
    }
    this.#open = this.#open.filter(({ outcome }) => !outcome);
  }
}
