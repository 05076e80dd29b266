import type { DeadLetter, HandlerContext, Outcome } from '@call-webhooks/core';
import { assertThat, type Violation } from './assert.ts';
import type { EventLog } from './event-log.ts';
import type { EventModel } from './event-model.ts';
import type { Machine, MachineEvents } from './machine.ts';
import type { Ending } from './predict.ts';
import type { RunningHandlers } from './running-handlers.ts';
import type { Service } from './service.ts';
import { isTransactionEnd, runTransaction, type EffectsTable } from './transactions.ts';

export interface CheckedParts {
  readonly model: EventModel;
  readonly log: EventLog;
  readonly service: Service;
  readonly running: RunningHandlers;
  readonly oneAtATime: boolean;
  /** Where handlers with `completeIn` have their effects. */
  readonly effects: EffectsTable | undefined;
}

/** Checks what the machines report: handler runs, dead letters and outcomes. */
export class MachineChecks implements MachineEvents {
  readonly #parts: CheckedParts;
  /** The first violation. It is not thrown, because the receiver catches errors of handlers. */
  violation: Violation | undefined;

  constructor(parts: CheckedParts) {
    this.#parts = parts;
  }

  secrets(tenant: string | undefined): string[] {
    return this.#parts.service.secrets(tenant);
  }

  runHandler(machine: Machine, context: HandlerContext): void | Promise<void> {
    const { model, service, running, oneAtATime, log } = this.#parts;
    const { attempt } = context;
    const key = String(context.key);
    const sent = service.sent(context.tenant, context.webhookId);
    const { webhookId = '', group = '', behaviour = 'fail' } = sent ?? {};
    this.#record(() => {
      const admission = machine.store.takeAdmission(webhookId);
      assertThat(
        admission.attempt === attempt,
        `${key}: attempt ${String(attempt)} is not the store's`,
      );
      assertThat(model.lease(key) === admission.token, `${key}: a handler ran without the lease`);
      const others = running.holding(group, model);
      assertThat(
        !oneAtATime || others.length === 0,
        `${key}: a handler ran beside that of ${others.join()}`,
      );
      log.attempt(key, attempt);
    });
    const token = model.lease(key) ?? '';
    const end = (ending: Ending) => {
      this.#end(ending, machine, context, token);
    };
    if (behaviour !== 'slow') {
      end(behaviour);
      return;
    }
    const undisturbed = machine.store.fault === 'none';
    const since = performance.now();
    const handler = { machine, webhookId, key, group, attempt, token, since, undisturbed };
    return running.run(handler).then(end);
  }

  /** The last thing that a handler does. @throws what the handler throws */
  #end(ending: Ending, machine: Machine, context: HandlerContext, token: string): void {
    const { model, log, effects } = this.#parts;
    if (ending === 'fail') throw new Error('the handler failed');
    if (isTransactionEnd(ending) && effects)
      try {
        runTransaction(effects, ending, machine, model, context, token);
      } finally {
        log.note(`a transaction: ${ending}`);
        if (model.isDone(String(context.key))) log.effect(String(context.key));
      }
    else log.effect(String(context.key));
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
