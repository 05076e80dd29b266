import { Directory } from './activity/directory.ts';
import { Messages } from './activity/messages.ts';
import { Calls } from './calls/calls.ts';
import { Chaos } from './chaos/chaos.ts';
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
    this.clock = new TurnableClock(settings.clock, this.startTime(), this.inFlight, () => {
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

  /** Forgets everything that happened, as if just started; what follows has new ids. */
  reset(): void {
    this.courier.abandonAll();
    this.draws.run++;
    this.clock.restart(this.startTime());
    this.rules.restore({ rules: [], made: 0 });
    this.secrets.restore([]);
    this.calls.restore({ calls: [], made: 0 });
    this.log.restore({ deliveries: [], made: 0 });
    this.outbox.restore([]);
    this.messages.restore({ messages: [], activities: [] });
    this.chaos.clear();
    this.chaos.set(this.settings.chaos);
    this.journal.record('reset');
  }

  startTime(): number {
    return this.settings.startAt ?? Date.now();
  }

  #shared() {
    const { journal, draws, directory, clock, chaos, secrets } = this;
    return { journal, draws, directory, clock, chaos, secrets };
  }
}
