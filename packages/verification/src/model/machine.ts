import {
  createReceiver,
  type HandlerContext,
  type Outcome,
  type DeadLetter,
  type Receiver,
  type Store,
} from '@call-webhooks/core';
import type { EventModel } from './event-model.ts';
import { WatchedStore } from './watched-store.ts';

/** What the world wants to hear of its machines. */
export interface MachineEvents {
  secrets(): string[];
  handle(machine: Machine, context: HandlerContext): void | Promise<void>;
  parked(delivery: DeadLetter): void;
  outcome(machine: Machine, outcome: Outcome): void;
}

export const MAX_ATTEMPTS = 3;

/** One process with a receiver, on the store that all share. */
export class Machine {
  readonly name: string;
  readonly store: WatchedStore;
  readonly receiver: Receiver;
  closing = false;

  constructor(name: string, store: Store, model: EventModel, events: MachineEvents) {
    this.name = name;
    this.store = new WatchedStore(store, model, Date.now);
    const handle = (_event: unknown, context: HandlerContext) => events.handle(this, context);
    this.receiver = createReceiver({
      secret: () => events.secrets(),
      on: { 'call:started': handle, 'call:completed': handle },
      deadLetter: (delivery) => {
        events.parked(delivery);
      },
      store: this.store,
      maxAttempts: MAX_ATTEMPTS,
      logger: { warn: () => undefined, error: () => undefined },
      onOutcome: (outcome) => {
        events.outcome(this, outcome);
      },
    });
  }
}
