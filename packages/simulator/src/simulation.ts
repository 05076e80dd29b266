import { Directory } from './activity/directory.ts';
import { Messages } from './activity/messages.ts';
import { Calls } from './calls/calls.ts';
import { Chaos, NO_CHAOS } from './chaos/chaos.ts';
import { SimulatorClock } from './clock/clock.ts';
import { InFlightRequests } from './clock/in-flight-requests.ts';
import { EventDispatcher } from './deliveries/event-dispatcher.ts';
import { DeliveryScheduler } from './deliveries/delivery-scheduler.ts';
import { DeliveryLog } from './deliveries/delivery-log.ts';
import { httpSender } from './deliveries/http-sender.ts';
import { ChangeEmitter } from './change-emitter.ts';
import { Outbox } from './outbox/outbox.ts';
import { Rules } from './rules/rules.ts';
import { Secrets } from './rules/secrets.ts';
import { SeededRandom } from './seeded-random.ts';
import type { Settings } from './settings.ts';
import { NO_RECORDS, type State } from './snapshot/state.ts';

/**
 * The service without its HTTP API: calls cause events, rules turn them into deliveries, the
 * scheduler sends those to their receivers, and the clock drives everything.
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
  readonly log: DeliveryLog;
  readonly scheduler: DeliveryScheduler;
  readonly dispatcher: EventDispatcher;
  readonly calls: Calls;
  readonly messages: Messages;
  /** The simulator's URL. Set once it listens. */
  baseUrl = '';

  constructor(settings: Settings) {
    const { changes } = this;
    this.settings = settings;
    this.random = new SeededRandom(settings.seed);
    this.directory = new Directory(settings.workspace);
    this.inFlight = new InFlightRequests(settings.patience);
    this.clock = new SimulatorClock(settings.clock, this.#startTime(), this.inFlight, () => {
      changes.emit('clock');
    });
    const now = () => this.clock.now();
    this.chaos = new Chaos(changes);
    this.secrets = new Secrets(this.random, changes);
    this.rules = new Rules({
      ...this.#shared(),
      allowExternal: settings.allowExternal,
      now,
      onPaused: (rule) => {
        this.scheduler.onRulePaused(rule._id);
      },
      onResumed: (rule) => {
        this.scheduler.onRuleResumed(rule);
      },
      onActionsRemoved: (ruleId) => {
        this.scheduler.onActionsRemoved(ruleId);
      },
    });
    this.outbox = new Outbox(this.directory, this.random, changes);
    this.log = new DeliveryLog(changes, settings.keepDeliveries);
    this.scheduler = new DeliveryScheduler({
      ...this.#shared(),
      policy: settings,
      inFlight: this.inFlight,
      rules: this.rules,
      outbox: this.outbox,
      log: this.log,
      send: httpSender(settings.tls),
      headerPrefix: settings.headerPrefix,
      extraHeaders: settings.extraHeaders,
      signingTime: settings.timestamps === 'wall' ? settings.wallClock : now,
    });
    this.dispatcher = new EventDispatcher({
      ...this.#shared(),
      rules: this.rules,
      log: this.log,
      scheduler: this.scheduler,
      fieldNames: settings.fieldNames,
      workspaceId: settings.workspace._id,
      baseUrl: () => settings.baseUrl ?? this.baseUrl,
    });
    this.calls = new Calls({
      ...this.#shared(),
      recordingFirst: settings.recordingFirst,
      dispatch: (eventName, call) => {
        this.dispatcher.dispatch(eventName, call);
      },
    });
    this.messages = new Messages(this.#shared());
    this.chaos.set(settings.chaos);
  }

  /** The whole state, for a snapshot. */
  dump(): State {
    const { rules, calls, log, random, clock, chaos, settings } = this;
    const made = { rules: rules.created, calls: calls.created, deliveries: log.created };
    return {
      heading: {
        seed: settings.seed,
        run: random.run,
        time: clock.now(),
        chaos: chaos.get(),
        made,
      },
      records: {
        rule: rules.list(),
        secret: this.secrets.entries(),
        call: calls.list(),
        delivery: log.list(),
        mail: this.outbox.list(),
        message: this.messages.list(),
        activity: [...this.messages.activities()],
      },
    };
  }

  /**
   * Replaces the state. Nothing is sent until `resume`.
   * @throws SimulatorError `external-target`, `invalid-input`
   */
  restore({ heading: { run, time, chaos, made }, records }: State): void {
    this.rules.restore(records.rule, made.rules);
    this.chaos.set(chaos);
    this.secrets.restore(records.secret);
    this.calls.restore(records.call, made.calls);
    this.log.restore(records.delivery, made.deliveries);
    this.outbox.restore(records.mail);
    this.messages.restore(records.message, records.activity);
    this.random.run = run;
    this.clock.restart(time);
  }

  /** Continues the restored calls and deliveries. */
  resume(): void {
    this.calls.resume();
    this.scheduler.resume();
  }

  /** Returns to the state after the start. Later records get new ids. */
  reset(): void {
    this.scheduler.reset();
    const { seed } = this.settings;
    const chaos = { ...NO_CHAOS, ...this.settings.chaos };
    const made = { rules: 0, calls: 0, deliveries: 0 };
    const run = this.random.run + 1;
    const heading = { seed, run, time: this.#startTime(), chaos, made };
    this.restore({ heading, records: NO_RECORDS });
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

  #shared() {
    const { changes, random, directory, clock, chaos, secrets } = this;
    return { changes, random, directory, clock, chaos, secrets };
  }
}
