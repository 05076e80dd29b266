import type { DeadLetter, HandlerContext, Outcome } from '@call-webhooks/core';
import { assertThat, type Violation } from './assert.ts';
import type { EventLog } from './event-log.ts';
import type { EventModel } from './event-model.ts';
import type { Machine, MachineEvents } from './machine.ts';
import type { RunningHandlers } from './running-handlers.ts';
import type { Service } from './service.ts';

export interface CheckedParts {
  readonly model: EventModel;
  readonly log: EventLog;
  readonly service: Service;
  readonly running: RunningHandlers;
  readonly oneAtATime: boolean;
}

/** Checks what the machines report: handler runs, dead letters and outcomes. */
export class MachineChecks implements MachineEvents {
  readonly #parts: CheckedParts;
  /** The first violation. It is not thrown, because the receiver catches errors of handlers. */
  violation: Violation | undefined;

  constructor(parts: CheckedParts) {
    this.#parts = parts;
  }

  secrets(): string[] {
    return this.#parts.service.secrets;
  }

  runHandler(machine: Machine, context: HandlerContext): void | Promise<void> {
    const { model, log, service, running, oneAtATime } = this.#parts;
    const { webhookId, attempt } = context;
    const key = String(context.key);
    const callId = service.callId(webhookId);
    this.#record(() => {
      const admission = machine.store.takeAdmission(webhookId);
      assertThat(
        admission.attempt === attempt,
        `${key}: attempt ${String(attempt)} is not the store's`,
      );
      assertThat(model.lease(key) === admission.token, `${key}: a handler ran without the lease`);
      const others = running.holding(callId, model);
      assertThat(
        !oneAtATime || others.length === 0,
        `${key}: a handler ran beside that of ${others.join()}`,
      );
      log.attempt(key, attempt);
    });
    const behaviour = service.behaviour(webhookId);
    if (behaviour === 'fail') throw new Error('the handler failed');
    if (behaviour === 'ok') {
      log.effect(key);
      return;
    }
    const token = model.lease(key) ?? '';
    const undisturbed = machine.store.fault === 'none';
    return running.run({
      machine,
      webhookId,
      key,
      callId,
      attempt,
      token,
      since: performance.now(),
      undisturbed,
    });
  }

  deadLettered(deadLetter: DeadLetter): void {
    this.#parts.log.deadLettered(deadLetter);
  }

  sinkFailed(): void {
    this.#parts.log.note('a dead-letter sink that failed');
  }

  outcome(machine: Machine, { outcome, key, late }: Outcome): void {
    if (machine.store.dead || key === undefined) return;
    const { model } = this.#parts;
    const isCommitted = { handled: model.isDone(key), 'dead-lettered': model.isDead(key) };
    if (outcome === 'handled' || outcome === 'dead-lettered')
      this.#record(() => {
        assertThat(
          isCommitted[outcome],
          `${key}: ${outcome}, but not committed (${late ? 'late' : 'in time'})`,
        );
      });
  }

  #record(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.violation ??= error as Violation;
    }
  }
}
