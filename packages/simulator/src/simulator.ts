import type { Messages } from './activity/messages.ts';
import type { Calls } from './calls/calls.ts';
import type { Chaos } from './chaos/chaos.ts';
import type { Clock } from './clock/clock.ts';
import type { DeliveryFilter } from './deliveries/delivery-log.ts';
import type { Delivery, DeliveryState } from './deliveries/delivery.ts';
import type { Outbox } from './outbox/outbox.ts';
import type { Rules } from './rules/rules.ts';
import type { Secrets } from './rules/secrets.ts';
import type { Simulation } from './simulation.ts';

/** What the service sent, or is about to send. */
export interface Deliveries {
  /** Those that match, in the order they were made; all without a filter. */
  list(filter?: DeliveryFilter): Delivery[];
  /** @throws SimulatorError `not-found` */
  get(id: string): Delivery;
  /** How many there are in each state. */
  counts(): Partial<Record<DeliveryState, number>>;
  /**
   * Sends the same event once more, as a new delivery, even while its rule is paused.
   * @throws SimulatorError `not-found`
   */
  resend(id: string): Delivery;
  /** Resolves when no receiver is working on anything; retries may still be due later. */
  settled(): Promise<void>;
}

/** A running simulator. */
export interface Simulator {
  /** Where it listens: the inspector, the REST endpoints under `/v1`, the control API under `/_sim`. */
  readonly url: string;
  /** What REST requests have to carry in `X-API-Token`. */
  readonly apiToken: string;
  /** Pass it as `seed` to see the same run again. */
  readonly seed: string;
  readonly rules: Rules;
  readonly calls: Calls;
  /** Messages and what happened to them: what `GET /v1/events` lists. */
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly chaos: Chaos;
  readonly secrets: Secrets;
  /** Forgets everything: rules, calls, deliveries, mails, messages. What follows has new ids. */
  reset(): void;
  /**
   * Ends all attempts, stops listening, and writes the snapshot if there is one; rejects when that
   * can't be written.
   */
  close(): Promise<void>;
  /** Settles as `close` does, whoever closes it: the control API can, too. */
  readonly closed: Promise<void>;
}

/** The deliveries of a simulation, as they are shown to its user. */
export function createDeliveries({ log, dispatcher, inFlight }: Simulation): Deliveries {
  return {
    list: (filter) => log.list(filter),
    get: (id) => log.get(id),
    counts: () => log.counts(),
    resend: (id) => dispatcher.resend(id),
    settled: () => inFlight.waitForAll(),
  };
}
