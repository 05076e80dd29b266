import type { EventModel } from './event-model.ts';
import type { Machine } from './machine.ts';
import { must } from './violation.ts';

/** A handler that has not ended. */
export interface Running {
  readonly machine: Machine;
  readonly webhookId: string;
  readonly key: string;
  readonly attempt: number;
  readonly token: string;
  readonly since: number;
  /** Whether the store was at its machine's call all the while. */
  undisturbed: boolean;
  readonly end: (ok: boolean) => void;
}

/** The service retries after about 300 s, and has to find the event free. Milliseconds. */
const MAX_LEASE_MS = 240_000;

/** The slow handlers of all machines that live. */
export class RunningHandlers {
  #handlers: Running[] = [];

  get count(): number {
    return this.#handlers.length;
  }

  /** A handler that runs until it is ended: well, or by throwing. */
  run(handler: Omit<Running, 'end'>): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (ok: boolean) => {
        if (ok) resolve();
        else reject(new Error('the handler failed late'));
      };
      this.#handlers.push({ ...handler, end });
    });
  }

  take(which: number): Running {
    const [taken] = this.#handlers.splice(which % this.#handlers.length, 1);
    must(taken !== undefined, 'there is no handler to end');
    return taken;
  }

  /** Their leases may be lost from now on. */
  disturb(machine: Machine): void {
    for (const handler of this.#handlers)
      if (handler.machine === machine) handler.undisturbed = false;
  }

  /** They died with their machine. */
  bury(machine: Machine): void {
    this.#handlers = this.#handlers.filter((handler) => handler.machine !== machine);
  }

  /** @throws Violation when a lease is not kept while its handler runs, or is kept for too long */
  check(model: EventModel, now: number): void {
    for (const { key, token, since, undisturbed } of this.#handlers) {
      const ageMs = now - since;
      const held = model.lease(key, now) === token;
      must(
        !undisturbed || ageMs >= MAX_LEASE_MS || held,
        `${key}: a living handler lost its lease`,
      );
      must(ageMs < MAX_LEASE_MS || !held, `${key}: a lease was kept for ${String(ageMs)} ms`);
    }
  }
}
