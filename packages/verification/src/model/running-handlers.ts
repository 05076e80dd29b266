import type { EventModel } from './event-model.ts';
import { assertThat } from './assert.ts';
import type { Ending } from './transactions.ts';

/** A handler that has not ended yet. */
export interface Running<Machine> {
  readonly machine: Machine;
  readonly webhookId: string;
  readonly key: string;
  /** Its call. */
  readonly group: string;
  readonly attempt: number;
  readonly token: string;
  readonly since: number;
  /** Whether its machine could always reach the store. */
  undisturbed: boolean;
  readonly end: (ending: Ending) => void;
}

/** Milliseconds. The service retries after about 300 s, and the event has to be free by then. */
const MAX_LEASE_MS = 240_000;

/** The slow handlers of all machines that are alive. */
export class RunningHandlers<Machine> {
  #handlers: Running<Machine>[] = [];

  get count(): number {
    return this.#handlers.length;
  }

  /** Runs until `end` is called. Resolves with how it is to end. */
  run(handler: Omit<Running<Machine>, 'end'>): Promise<Ending> {
    return new Promise((resolve) => {
      this.#handlers.push({ ...handler, end: resolve });
    });
  }

  has(webhookId: string): boolean {
    return this.#handlers.some((handler) => handler.webhookId === webhookId);
  }

  /** The handlers of a call whose leases are live. */
  holding(group: string, model: EventModel): string[] {
    return this.#handlers
      .filter((handler) => handler.group === group && model.lease(handler.key) === handler.token)
      .map(({ key }) => key);
  }

  take(which: number): Running<Machine> {
    const [taken] = this.#handlers.splice(which % this.#handlers.length, 1);
    assertThat(taken !== undefined, 'no handler is running');
    return taken;
  }

  /** From now on its handlers may lose their leases. */
  markDisturbed(machine: Machine): void {
    for (const handler of this.#handlers)
      if (handler.machine === machine) handler.undisturbed = false;
  }

  /** Its handlers died with it. */
  removeMachine(machine: Machine): void {
    this.#handlers = this.#handlers.filter((handler) => handler.machine !== machine);
  }

  /** @throws Violation when a lease is lost while its handler runs, or kept for too long */
  check(model: EventModel): void {
    const now = performance.now();
    for (const { key, token, since, undisturbed } of this.#handlers) {
      const ageMs = now - since;
      const held = model.lease(key) === token;
      assertThat(
        !undisturbed || ageMs >= MAX_LEASE_MS || held,
        `${key}: a running handler lost its lease`,
      );
      assertThat(ageMs < MAX_LEASE_MS || !held, `${key}: a lease was kept for ${String(ageMs)} ms`);
    }
  }
}
