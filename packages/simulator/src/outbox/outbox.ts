import type { Directory } from '../activity/directory.ts';
import type { ChangeEmitter } from '../change-emitter.ts';
import type { PauseReason, Rule } from '../rules/rule.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Mail } from './mail.ts';

const PAUSE_REASONS: Readonly<Record<PauseReason, string>> = {
  'answered-404': 'its URL responded 404 and is considered gone. The delivery was not retried.',
  'last-attempt-failed': 'the last attempt to deliver an event failed.',
  'by-hand': 'somebody paused it.',
};

/**
 * The emails about paused rules: to the owner of a user's rule, and to the admins for a workspace
 * rule (spec, "States and transitions"). The spec does not show their text.
 * @guess Who is e-mailed about the recording webhook
 */
export class Outbox {
  readonly #directory: Directory;
  readonly #random: SeededRandom;
  readonly #changes: ChangeEmitter;
  #mails: Mail[] = [];

  constructor(directory: Directory, random: SeededRandom, changes: ChangeEmitter) {
    this.#directory = directory;
    this.#random = random;
    this.#changes = changes;
  }

  /** All emails, the oldest first. */
  list(): Mail[] {
    return [...this.#mails];
  }

  /** @internal */
  sendPauseEmail(rule: Rule, because: PauseReason, sentAt: number): void {
    const people =
      rule.scope === 'workspace' ? this.#directory.admins() : [this.#directory.user(rule.ownerId)];
    const mail = {
      _id: this.#random.id('mail', this.#mails.length),
      sentAt,
      to: people.map((person) => person.email),
      subject: `Your rule "${rule.name}" is paused`,
      text: `The rule "${rule.name}" (${rule.trigger}) is paused: ${PAUSE_REASONS[because]}`,
      ruleId: rule._id,
    };
    this.#mails.push(mail);
    this.#changes.emit('mail', mail._id);
  }

  /** @internal */
  restore(mails: readonly Mail[]): void {
    this.#mails = [...mails];
  }
}
