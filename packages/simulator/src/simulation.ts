import { Directory } from './activity/directory.ts';
import { Messages } from './activity/messages.ts';
import { Calls } from './calls/calls.ts';
import { Chaos } from './chaos.ts';
import { SimulatorClock } from './clock/clock.ts';
import { InFlightRequests } from './clock/in-flight-requests.ts';
import { EventDispatcher } from './events/dispatcher.ts';
import { EventLog } from './events/log.ts';
import { EventScheduler } from './events/scheduler.ts';
import { httpSender, type Send } from './events/sender.ts';
import type { Settings } from './options.ts';
import { Outbox } from './outbox.ts';
import { ChangeEmitter } from './records.ts';
import { Rules } from './rules/rules.ts';
import { Secrets } from './rules/secrets.ts';
import { SeededRandom } from './seeded-random.ts';

/**
 * The service without its HTTP API: calls fire rules, the dispatcher makes an event for each of their
 * actions, the scheduler delivers the events to their receivers, and the clock drives everything.
 */
export class Simulation {
  readonly settings: Settings;
  readonly changes = new ChangeEmitter();
  readonly random: SeededRandom;
  readonly directory: Directory;
  readonly inFlight: InFlightRequests;
  readonly clock: SimulatorClock;
  readonly chaos: Chaos;
  readonly secrets: Secrets;
  readonly rules: Rules;
  readonly outbox: Outbox;
  readonly log: EventLog;
  readonly send: Send;
  readonly scheduler: EventScheduler;
  readonly dispatcher: EventDispatcher;
  readonly calls: Calls;
  readonly messages: Messages;
  /** The simulator's URL. Set once it listens. */
  url = '';

  constructor(settings: Settings) {
    const { changes } = this;
    this.settings = settings;
    this.random = new SeededRandom(settings.seed);
    this.directory = new Directory(settings.workspace);
    this.inFlight = new InFlightRequests(settings.patience);
    this.clock = new SimulatorClock(settings.clock, this.#startTime(), this.inFlight, () =>
      changes.emit('clock'),
    );
    this.chaos = new Chaos(changes, settings.chaos);
    this.secrets = new Secrets(this.random, changes);
    this.log = new EventLog(changes, settings.keepRecords);
    this.send = httpSender(settings.tls);
    this.rules = new Rules(this);
    this.outbox = new Outbox(this);
    this.scheduler = new EventScheduler(this);
    this.dispatcher = new EventDispatcher(this);
    this.calls = new Calls(this);
    this.messages = new Messages(this);
  }

  /** Returns to the state after the start. Later records get new ids. */
  reset(): void {
    const { scheduler, rules, secrets, calls, log, outbox, messages } = this;
    scheduler.reset();
    for (const records of [rules, secrets, calls, log, outbox, messages]) records.clear();
    this.random.run++;
    this.chaos.set(this.settings.chaos);
    this.clock.restart(this.#startTime());
    this.changes.emit('reset');
  }

  /** Stops the clock and ends all attempts. */
  close(): void {
    this.clock.close();
    this.scheduler.close();
  }

  #startTime(): number {
    return this.settings.startAt ?? Date.now();
  }
}
