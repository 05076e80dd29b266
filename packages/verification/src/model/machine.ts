import {
  createReceiver,
  type HandlerContext,
  type Outcome,
  type DeadLetter,
  type Receiver,
  type Store,
} from '@call-webhooks/core';
import type { EventModel } from './event-model.ts';
import { CheckedStore } from './checked-store.ts';

/** What a machine reports to the world. */
export interface MachineEvents {
  secrets(tenant: string | undefined): string[];
  runHandler(machine: Machine, context: HandlerContext): void | Promise<void>;
  deadLettered(delivery: DeadLetter): void;
  sinkFailed(): void;
  outcome(machine: Machine, outcome: Outcome): void;
}

export const MAX_ATTEMPTS = 3;

/** What the receivers of a scenario have in common. */
export interface MachineOptions {
  /** Whether they run one event of a call at a time. */
  readonly oneAtATime: boolean;
  /** Whether they have tenants. */
  readonly hasTenants: boolean;
}

/** One process with a receiver on the shared store. */
export class Machine {
  readonly name: string;
  readonly store: CheckedStore;
  readonly receiver: Receiver;
  closing = false;
  /** Whether its dead-letter sink is down. */
  sinkFails = false;

  constructor(
    name: string,
    store: Store,
    model: EventModel,
    events: MachineEvents,
    { oneAtATime, hasTenants }: MachineOptions,
  ) {
    this.name = name;
    this.store = new CheckedStore(store, model);
    const handle = (_event: unknown, context: HandlerContext) => events.runHandler(this, context);
    this.receiver = createReceiver({
      secret: ({ tenant }) => events.secrets(hasTenants ? tenant : undefined),
      ...(hasTenants && { tenant: ({ path }) => path.split('/')[2] }),
      on: { 'call:started': handle, 'call:completed': handle },
      deadLetter: (delivery) => {
        if (this.sinkFails) {
          events.sinkFailed();
          throw new Error('the dead-letter sink is down');
        }
        events.deadLettered(delivery);
      },
      store: this.store,
      ...(oneAtATime && { oneAtATime }),
      maxAttempts: MAX_ATTEMPTS,
      logger: { warn: () => undefined, error: () => undefined },
      onOutcome: (outcome) => {
        events.outcome(this, outcome);
      },
    });
  }
}
