import type { Directory } from './activity/directory.ts';
import type { SimulatorClock } from './clock/clock.ts';
import type { Settings } from './options.ts';
import { Records, type ChangeEmitter } from './records.ts';
import type { PauseReason, Rule } from './rules/rule.ts';
import type { SeededRandom } from './seeded-random.ts';

/** An email that the service would have sent about a paused rule. */
export interface Mail {
  readonly _id: string;
  /** The time at which the email was sent, in milliseconds of the simulator's clock. */
  readonly sentAt: number;
  /** The addresses of the recipients. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** The `_id` of the rule that was paused. */
  readonly ruleId: string;
}

const PAUSE_REASONS: Readonly<Record<PauseReason, string>> = {
  'responded-404': 'its URL returned 404 and is considered gone. The event will not be retried.',
  'last-attempt-failed': 'the last attempt to deliver an event failed.',
  'by-hand': 'it was paused by hand.',
};

/** What is used of the simulation. */
interface Parts {
  readonly changes: ChangeEmitter;
  readonly clock: SimulatorClock;
  readonly directory: Directory;
  readonly random: SeededRandom;
  readonly settings: Pick<Settings, 'keepRecords'>;
}

/**
 * The emails about paused rules. They go to the owner of a user's rule, and to the admins for a
 * workspace rule (spec, "States and transitions"). The spec does not show their text.
 * @guess Who is emailed about the recording webhook
 */
export class Outbox {
  readonly #simulation: Parts;
  readonly #mails: Records<Mail>;

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#mails = new Records('mail', simulation.changes, {
      keep: simulation.settings.keepRecords,
      isFinished: () => true,
    });
  }

  /** Returns the emails that are kept, oldest first. */
  list(): Mail[] {
    return this.#mails.list();
  }

  /** @internal */
  sendPauseEmail(rule: Rule, because: PauseReason): void {
    const { clock, directory, random } = this.#simulation;
    const people = rule.scope === 'workspace' ? directory.admins() : [directory.user(rule.ownerId)];
    this.#mails.put({
      _id: random.id('mail', this.#mails.created),
      sentAt: clock.now(),
      to: people.map((person) => person.email),
      subject: `Your rule "${rule.name}" is paused`,
      text: `The rule "${rule.name}" (${rule.trigger}) is paused: ${PAUSE_REASONS[because]}`,
      ruleId: rule._id,
    });
  }

  /** @internal */
  clear(): void {
    this.#mails.clear();
  }
}
