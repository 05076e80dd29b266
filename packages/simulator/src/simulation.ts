import { Directory } from './activity/directory.ts';
import { Messages } from './activity/messages.ts';
import { Calls } from './calls/calls.ts';
import { Chaos } from './chaos/chaos.ts';
import { NO_CHAOS } from './chaos/modes.ts';
import { TurnableClock } from './clock/clock.ts';
import { InFlight } from './clock/in-flight.ts';
import { Announcer } from './deliveries/announcer.ts';
import { Courier } from './deliveries/courier.ts';
import { DeliveryLog } from './deliveries/delivery-log.ts';
import { httpSender } from './deliveries/sender.ts';
import { Journal } from './journal.ts';
import { Outbox } from './outbox/outbox.ts';
import { Rules } from './rules/rules.ts';
import { Secrets } from './rules/secrets.ts';
import { Draws } from './seed/draws.ts';
import type { Settings } from './settings.ts';
import { NO_RECORDS, type State } from './snapshot/state.ts';

/**
 * The service without its HTTP side: calls make events, rules make deliveries of them, the courier
 * brings those to their receivers, and the clock drives it all.
 */
export class Simulation {
  readonly settings: Settings;
  readonly journal = new Journal();
  readonly draws: Draws;
  readonly directory: Directory;
  readonly inFlight: InFlight;
  readonly clock: TurnableClock;
  readonly chaos: Chaos;
  readonly secrets: Secrets;
  readonly rules: Rules;
  readonly outbox: Outbox;
  readonly log: DeliveryLog;
  readonly courier: Courier;
  readonly announcer: Announcer;
  readonly calls: Calls;
  readonly messages: Messages;
  /** Where the simulator can be reached; known once it listens. */
  baseUrl = '';

  constructor(settings: Settings) {
    const { journal } = this;
    this.settings = settings;
    this.draws = new Draws(settings.seed);
    this.directory = new Directory(settings.workspace);
    this.inFlight = new InFlight(settings.patience);
    this.clock = new TurnableClock(settings.clock, this.#startTime(), this.inFlight, () => {
      journal.record('clock');
    });
    const now = () => this.clock.now();
    this.chaos = new Chaos(journal);
    this.secrets = new Secrets(this.draws, journal);
    this.rules = new Rules(
      { ...this.#shared(), allowExternal: settings.allowExternal, now },
      {
        onPaused: (rule) => {
          this.courier.rulePaused(rule._id);
        },
        onResumed: (rule) => {
          this.courier.ruleResumed(rule);
        },
      },
    );
    this.outbox = new Outbox(this.directory, this.draws, journal);
    this.log = new DeliveryLog(journal, settings.keepDeliveries);
    this.courier = new Courier({
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
    this.announcer = new Announcer({
      ...this.#shared(),
      rules: this.rules,
      log: this.log,
      courier: this.courier,
      fieldNames: settings.fieldNames,
      workspaceId: settings.workspace._id,
      baseUrl: () => settings.baseUrl ?? this.baseUrl,
    });
    this.calls = new Calls({
      ...this.#shared(),
      recordingFirst: settings.recordingFirst,
      announce: (eventName, call) => {
        this.announcer.announce(eventName, call);
      },
    });
    this.messages = new Messages(this.#shared());
    this.chaos.set(settings.chaos);
  }

  /** Everything that it knows. */
  dump(): State {
    const { rules, calls, log, draws, clock, chaos, settings } = this;
    const made = { rules: rules.made, calls: calls.made, deliveries: log.made };
    return {
      heading: { seed: settings.seed, run: draws.run, time: clock.now(), chaos: chaos.get(), made },
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
   * Knows what was dumped, and nothing else. Nothing is sent until `takeUp`.
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
    this.draws.run = run;
    this.clock.restart(time);
  }

  /** Goes on with the calls and the deliveries that were restored. */
  takeUp(): void {
    this.calls.takeUp();
    this.courier.takeUp();
  }

  /** Forgets everything that happened, as if just started; what follows has new ids. */
  reset(): void {
    this.courier.abandonAll();
    const { seed } = this.settings;
    const chaos = { ...NO_CHAOS, ...this.settings.chaos };
    const made = { rules: 0, calls: 0, deliveries: 0 };
    const run = this.draws.run + 1;
    const heading = { seed, run, time: this.#startTime(), chaos, made };
    this.restore({ heading, records: NO_RECORDS });
    this.journal.record('reset');
  }

  /** Sends nothing any more. */
  close(): void {
    this.clock.close();
    this.courier.close();
  }

  #startTime(): number {
    return this.settings.startAt ?? Date.now();
  }

  #shared() {
    const { journal, draws, directory, clock, chaos, secrets } = this;
    return { journal, draws, directory, clock, chaos, secrets };
  }
}
