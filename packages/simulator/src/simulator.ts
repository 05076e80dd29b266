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

/** The deliveries, sent or waiting. */
export interface Deliveries {
  /** The deliveries that match, in the order of creation; all without a filter. */
  list(filter?: DeliveryFilter): Delivery[];
  /** @throws SimulatorError `not-found` */
  get(id: string): Delivery;
  /** The number of deliveries in each state. */
  counts(): Partial<Record<DeliveryState, number>>;
  /**
   * Sends the event again, as a new delivery, even while the rule is paused.
   * @throws SimulatorError `not-found`, also when its action was removed
   */
  resend(id: string): Delivery;
  /** Resolves when no attempt is in flight. Retries may still be due. */
  settled(): Promise<void>;
}

/** A running simulator. */
export interface Simulator {
  /** The URL of the inspector; the REST API is below `/v1`, the control API below `/_sim`. */
  readonly url: string;
  /** The `X-API-Token` of the REST API. */
  readonly apiToken: string;
  /** Pass it as `seed` to repeat this run. */
  readonly seed: string;
  readonly rules: Rules;
  readonly calls: Calls;
  /** Messages and their activities: the content of `GET /v1/events`. */
  readonly messages: Messages;
  readonly deliveries: Deliveries;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly chaos: Chaos;
  readonly secrets: Secrets;
  /** Removes all rules, calls, deliveries, emails and messages. Later records get new ids. */
  reset(): void;
  /**
   * Ends all attempts, stops listening, and writes the snapshot of `db`. Rejects when that fails.
   */
  close(): Promise<void>;
  /** Settles when the simulator is closed, by `close` or by the control API. */
  readonly closed: Promise<void>;
}

/** The `deliveries` of a simulator. */
export function createDeliveries({ log, dispatcher, inFlight }: Simulation): Deliveries {
  return {
    list: (filter) => log.list(filter),
    get: (id) => log.get(id),
    counts: () => log.counts(),
    resend: (id) => dispatcher.resend(id),
    settled: () => inFlight.waitForAll(),
  };
}
