import type { SimulatorClock } from '../clock/clock.ts';
import type { ChangeEmitter } from '../change-emitter.ts';
import type { SeededRandom } from '../seeded-random.ts';
import { SimulatorError } from '../simulator-error.ts';
import type { Directory } from './directory.ts';
import type {
  Activity,
  ActivityInput,
  Address,
  Message,
  MessageAction,
  MessageInput,
  Recipient,
} from './message.ts';

const ACTION_NAMES: Readonly<Record<MessageAction, string>> = {
  opened: 'Opened the message',
  clicked: 'Clicked a link',
  downloaded: 'Downloaded an attachment',
  replied: 'Replied',
  'meetinginvites:confirmed': 'Confirmed the meeting',
  'poll:voted': 'Voted',
};

const DEVICE = { os: 'Linux', program: 'Firefox', isMobile: false };
const LOCATION = { city: 'Lisbon', region: 'Lisbon', country: 'Portugal' };

interface Deps {
  readonly clock: SimulatorClock;
  readonly random: SeededRandom;
  readonly changes: ChangeEmitter;
  readonly directory: Directory;
}

/** Messages and their activities: the content of `GET /v1/events`. */
export class Messages {
  readonly #deps: Deps;
  readonly #messages = new Map<string, Message>();
  #activities: Activity[] = [];

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** All messages, the oldest first. */
  list(): Message[] {
    return [...this.#messages.values()];
  }

  /** The activities of all messages, the oldest first. */
  activities(): readonly Activity[] {
    return this.#activities;
  }

  /** @throws SimulatorError `not-found` */
  get(messageId: string): Message {
    const message = this.#messages.get(messageId);
    if (!message) throw new SimulatorError('not-found', 'No message has this id.');
    return message;
  }

  /**
   * Sends a message. It has an `unopened` event until all its recipients have opened it.
   * @throws SimulatorError `invalid-input` without a recipient, `not-found` for an unknown user,
   *   template or sequence
   */
  send(input: MessageInput): Message {
    const { clock, random, directory, changes } = this.#deps;
    const { templates, sequences } = directory.workspace;
    const { templateId, sequenceId } = input;
    const recipients = [
      ...recipientsOf('to', input.to),
      ...recipientsOf('cc', input.cc),
      ...recipientsOf('bcc', input.bcc),
    ];
    if (recipients.length === 0 || typeof input.subject !== 'string')
      throw new SimulatorError('invalid-input', 'A message needs a subject and a recipient.');
    checkKnown('template', templateId, templates);
    checkKnown('sequence', sequenceId, sequences);
    const number = this.#messages.size;
    const message: Message = {
      _id: random.id('message', number),
      threadId: input.threadId ?? random.id('thread', number),
      subject: input.subject,
      sentAt: clock.now(),
      senderId: directory.user(input.senderId)._id,
      recipients,
      ...(templateId !== undefined && { templateId }),
      ...(sequenceId !== undefined && { sequenceId }),
    };
    this.#messages.set(message._id, message);
    changes.emit('message', message._id);
    return message;
  }

  /**
   * Records an activity: somebody opened or answered the message, for example.
   * @throws SimulatorError `not-found` for an unknown message or recipient, `invalid-input` for an
   *   unknown action
   */
  record(messageId: string, input: ActivityInput): Activity {
    const { clock, random, changes } = this.#deps;
    const message = this.get(messageId);
    const recipient =
      input.recipientEmail === undefined
        ? message.recipients[0]
        : message.recipients.find(({ email }) => email === input.recipientEmail);
    if (!recipient)
      throw new SimulatorError('not-found', 'The message has no recipient with this address.');
    const activity: Activity = {
      _id: random.id('activity', this.#activities.length),
      messageId,
      at: clock.now(),
      recipientEmail: recipient.email,
      ...activityDefaults(input),
    };
    this.#activities.push(activity);
    changes.emit('message', messageId);
    return activity;
  }

  /** @internal */
  restore(messages: readonly Message[], activities: readonly Activity[]): void {
    this.#messages.clear();
    for (const message of messages) this.#messages.set(message._id, message);
    this.#activities = [...activities];
  }
}

function recipientsOf(
  field: Recipient['field'],
  addresses: Address | readonly Address[] = [],
): Recipient[] {
  const list = Array.isArray(addresses)
    ? (addresses as readonly Address[])
    : [addresses as Address];
  return list.map((address) =>
    typeof address === 'string'
      ? { email: address, name: null, field }
      : { email: address.email, name: address.name ?? null, field },
  );
}

function checkKnown(kind: string, id: string | undefined, all: readonly { _id: string }[]): void {
  if (id !== undefined && !all.some(({ _id }) => _id === id))
    throw new SimulatorError('not-found', `The workspace has no ${kind} with this id.`);
}

/**
 * The fields that depend on the action (spec, "Activity event record"): `device` and `location` with
 * `opened` and `downloaded`, `object` with `clicked` and `downloaded`.
 */
function activityDefaults(
  input: ActivityInput,
): Pick<Activity, 'action' | 'actionName' | 'device' | 'location' | 'object'> {
  const { action } = input;
  if (!Object.hasOwn(ACTION_NAMES, action))
    throw new SimulatorError(
      'invalid-input',
      `The action of an activity must be one of ${Object.keys(ACTION_NAMES).join(', ')}.`,
    );
  const seen = action === 'opened' || action === 'downloaded';
  const object =
    action === 'clicked'
      ? { type: 'link', title: 'Price list' }
      : { type: 'attachment', title: 'prices.pdf' };
  return {
    action,
    actionName: input.actionName ?? ACTION_NAMES[action],
    ...(seen && { device: input.device ?? DEVICE, location: input.location ?? LOCATION }),
    ...((action === 'clicked' || action === 'downloaded') && { object: input.object ?? object }),
  };
}
