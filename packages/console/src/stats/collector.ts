import diagnostics from 'node:diagnostics_channel';
import type { Outcome } from '@call-webhooks/core';
import type { OutcomeMessage } from '@call-webhooks/core/internal';
import type { InFlight } from '../api-types.ts';
import { InFlightCounter } from './in-flight.ts';
import { RecentDeliveries } from './recent-deliveries.ts';
import { SecretUses } from './secret-uses.ts';
import { CountSeries, DAY, HOUR } from './series.ts';

/**
 * Collects what the receivers and workers of this process do. It listens to core's diagnostics channels,
 * which cost nothing while nobody listens, and hold neither secrets nor values of bodies.
 */
export class Collector {
  readonly deliveries: RecentDeliveries;
  readonly secrets = new SecretUses();
  readonly hour = new CountSeries(HOUR);
  readonly day = new CountSeries(DAY);
  readonly #now: () => number;
  readonly #inFlight = { deliveries: new InFlightCounter(), handlers: new InFlightCounter() };
  readonly #listeners = new Set<(outcome: Outcome, at: number) => void>();
  readonly #undo: (() => void)[] = [];

  constructor(capacity: number, now: () => number) {
    this.deliveries = new RecentDeliveries(capacity);
    this.#now = now;
    const { deliveries, handlers } = this.#inFlight;
    this.#subscribe('call-webhooks:outcome', (message) => {
      this.#add((message as OutcomeMessage).outcome);
    });
    this.#subscribe('tracing:call-webhooks:delivery:start', deliveries.started);
    this.#subscribe('tracing:call-webhooks:delivery:asyncEnd', deliveries.ended);
    this.#subscribe('tracing:call-webhooks:handler:start', handlers.started);
    this.#subscribe('tracing:call-webhooks:handler:asyncEnd', handlers.ended);
  }

  get inFlight(): InFlight {
    const { deliveries, handlers } = this.#inFlight;
    return { deliveries: deliveries.count, handlers: handlers.count };
  }

  /** Also tells somebody else of each outcome. */
  onOutcome(listener: (outcome: Outcome, at: number) => void): void {
    this.#listeners.add(listener);
  }

  close(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #add(outcome: Outcome): void {
    const at = this.#now();
    this.hour.add(outcome, at);
    this.day.add(outcome, at);
    this.secrets.add(outcome, at);
    this.deliveries.add(outcome, at);
    for (const listener of this.#listeners) listener(outcome, at);
  }

  #subscribe(name: string, listener: (message: unknown) => void): void {
    // What is thrown here would end the process.
    const guarded = (message: unknown) => {
      try {
        listener(message);
      } catch {
        // A message of another version of core.
      }
    };
    diagnostics.subscribe(name, guarded);
    this.#undo.push(() => void diagnostics.unsubscribe(name, guarded));
  }
}
