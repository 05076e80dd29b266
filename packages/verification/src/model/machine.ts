import {
  createReceiver,
  type HandlerContext,
  type Outcome,
  type Receiver,
  type Store,
} from '@call-webhooks/core';
import { assertThat, type Violation } from './assert.ts';
import { CheckedStore } from './checked-store.ts';
import type { EventLog } from './event-log.ts';
import type { EventModel } from './event-model.ts';
import type { RunningHandlers } from './running-handlers.ts';
import type { Service } from './service.ts';
import {
  isTransactionEnd,
  runTransaction,
  type EffectsTable,
  type Ending,
} from './transactions.ts';

export const MAX_ATTEMPTS = 3;

/** What the receivers of a scenario have in common. */
export interface MachineOptions {
  /** Whether they run one event of a call at a time. */
  readonly oneAtATime: boolean;
  /** Whether they have tenants. */
  readonly hasTenants: boolean;
}

/** What the machines of a scenario share. */
export interface Surroundings {
  readonly store: Store;
  readonly model: EventModel;
  readonly log: EventLog;
  readonly service: Service;
  readonly running: RunningHandlers<Machine>;
  readonly options: MachineOptions;
  /** Where handlers with `completeIn` have their effects. */
  readonly effects: EffectsTable | undefined;
  /** They are not thrown, because receivers catch the errors of stores and handlers. */
  readonly violations: Violation[];
}

/** One process with a receiver on the shared store. Checks handler runs and outcomes. */
export class Machine {
  readonly store: CheckedStore;
  readonly receiver: Receiver;
  closing = false;
  /** Whether its dead-letter sink is down. */
  sinkFails = false;
  readonly #shared: Surroundings;

  constructor(shared: Surroundings) {
    this.#shared = shared;
    this.store = new CheckedStore(shared.store, shared.model, shared.violations);
    const { service, log, options } = shared;
    const handle = (_event: unknown, context: HandlerContext) => this.#run(context);
    this.receiver = createReceiver({
      secret: ({ tenant }) => service.secrets(options.hasTenants ? tenant : undefined),
      ...(options.hasTenants && { tenant: ({ path }) => path.split('/')[2] }),
      on: { 'call:started': handle, 'call:completed': handle },
      deadLetter: (deadLetter) => {
        if (!this.sinkFails) {
          log.deadLettered(deadLetter);
          return;
        }
        log.note('a dead-letter sink that failed');
        throw new Error('the dead-letter sink is down');
      },
      store: this.store,
      ...(options.oneAtATime && { oneAtATime: true }),
      maxAttempts: MAX_ATTEMPTS,
      logger: { warn: () => undefined, error: () => undefined },
      onOutcome: (outcome) => {
        this.#checkOutcome(outcome);
      },
    });
  }

  #run(context: HandlerContext): void | Promise<void> {
    const { model, service, running, options, log } = this.#shared;
    const { attempt } = context;
    const key = String(context.key);
    const sent = service.sent(context.tenant, context.webhookId);
    const { webhookId = '', group = '', behaviour = 'fail' } = sent ?? {};
    this.#record(() => {
      const admission = this.store.takeAdmission(webhookId);
      assertThat(
        admission.attempt === attempt,
        `${key}: attempt ${String(attempt)} is not the store's`,
      );
      assertThat(model.lease(key) === admission.token, `${key}: a handler ran without the lease`);
      const others = running.holding(group, model);
      assertThat(
        !options.oneAtATime || others.length === 0,
        `${key}: a handler ran beside that of ${others.join()}`,
      );
      log.attempt(key, attempt);
    });
    const token = model.lease(key) ?? '';
    if (behaviour !== 'slow') {
      this.#end(behaviour, context, token);
      return;
    }
    const undisturbed = this.store.fault === 'none';
    const since = performance.now();
    const handler = { machine: this, webhookId, key, group, attempt, token, since, undisturbed };
    return running.run(handler).then((ending) => this.#end(ending, context, token));
  }

  /** The last thing that a handler does. @throws what the handler throws */
  #end(ending: Ending, context: HandlerContext, token: string): void {
    const { model, log, effects } = this.#shared;
    if (ending === 'fail') throw new Error('the handler failed');
    if (isTransactionEnd(ending) && effects)
      try {
        runTransaction(effects, ending, this.store, model, context, token);
      } finally {
        log.note(`a transaction: ${ending}`);
        if (model.isDone(String(context.key))) log.effect(String(context.key));
      }
    else log.effect(String(context.key));
  }

  #checkOutcome({ outcome, key, late }: Outcome): void {
    if (this.store.dead || key === undefined) return;
    const { model } = this.#shared;
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
      this.#shared.violations.push(error as Violation);
    }
  }
}
