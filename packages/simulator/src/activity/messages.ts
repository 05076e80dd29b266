import type {
  ActivityAction,
  EventDevice,
  EventLocation,
  EventObject,
} from '@call-webhooks/client';
import * as z from 'zod/mini';
import type { SimulatorClock } from '../clock/clock.ts';
import { anyObject, checked, SimulatorError, text } from '../errors.ts';
import type { Settings } from '../options.ts';
import { Records, type ChangeEmitter } from '../records.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { Directory } from './directory.ts';

/** A recipient of a message. */
export interface Recipient {
  /** The email address of the recipient. */
  readonly email: string;
  /** The name of the recipient, or `null` if it is not known. */
  readonly name: string | null;
  /** The address field that names the recipient. */
  readonly field: 'to' | 'cc' | 'bcc';
}

/** A message that a user sent. */
export interface Message {
  readonly _id: string;
  /** The id of the thread. */
  readonly threadId: string;
  readonly subject: string;
  /** The time at which the message was sent, in milliseconds of the simulator's clock. */
  readonly sentAt: number;
  /** The `_id` of the user who sent the message. */
  readonly senderId: string;
  /** The recipients, at least one. */
  readonly recipients: readonly Recipient[];
  /** The `_id` of the template. It is absent if the message has none. */
  readonly templateId?: string;
  /** The `_id` of the sequence. It is absent if the message has none. */
  readonly sequenceId?: string;
}

/**
 * What a recipient can do with a message. `unopened` is missing here: the service derives it, and it
 * cannot be recorded.
 */
export type MessageAction = Exclude<ActivityAction, 'unopened'>;

/** One activity of a recipient, who opened the message, for example. */
export interface Activity {
  readonly _id: string;
  /** The `_id` of the message. */
  readonly messageId: string;
  readonly action: MessageAction;
  /** The name of the action as people read it. */
  readonly actionName: string;
  /** The time of the activity, in milliseconds of the simulator's clock. */
  readonly at: number;
  /** The email address of the recipient who acted. */
  readonly recipientEmail: string;
  /** The device of the recipient. Only `opened` and `downloaded` have it. */
  readonly device?: EventDevice;
  /** The location of the recipient. Only `opened` and `downloaded` have it. */
  readonly location?: EventLocation;
  /** The link or the attachment. Only `clicked` and `downloaded` have it. */
  readonly object?: EventObject;
}

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

const ADDRESS = z.union([text(), z.strictObject({ email: text(), name: z.nullish(text()) })]);
const ADDRESSES = z.union(
  [ADDRESS, z.readonly(z.array(ADDRESS))],
  'an email address, { email, name }, or a list of them',
);
const MESSAGE = z.strictObject({
  subject: text(),
  to: ADDRESSES,
  cc: z.optional(ADDRESSES),
  bcc: z.optional(ADDRESSES),
  senderId: z.optional(text()),
  threadId: z.optional(text()),
  templateId: z.optional(text()),
  sequenceId: z.optional(text()),
});
const ACTIVITY = z.strictObject({
  action: z.enum(
    Object.keys(ACTION_NAMES) as MessageAction[],
    `one of ${Object.keys(ACTION_NAMES).join(', ')}`,
  ),
  recipientEmail: z.optional(text()),
  actionName: z.optional(text()),
  device: z.optional(anyObject<EventDevice>()),
  location: z.optional(anyObject<EventLocation>()),
  object: z.optional(anyObject<EventObject>()),
});

/** An email address, or an object with the address and a display name. */
export type Address = z.input<typeof ADDRESS>;

/**
 * A new message. `senderId` is the `_id` of a user, by default the first user of the workspace.
 * `templateId` and `sequenceId` name a template and a sequence of the workspace. Without a `threadId`,
 * the message begins a thread.
 */
export type MessageInput = z.input<typeof MESSAGE>;

/**
 * A new activity. `recipientEmail` names who acted, by default the first recipient of the message. The
 * fields that belong to the action have invented values by default.
 */
export type ActivityInput = z.input<typeof ACTIVITY>;

/** What is used of the simulation. */
interface Parts {
  readonly changes: ChangeEmitter;
  readonly clock: SimulatorClock;
  readonly directory: Directory;
  readonly random: SeededRandom;
  readonly settings: Pick<Settings, 'keepRecords'>;
}

/** The messages and their activities, which `GET /v1/events` returns. */
export class Messages {
  readonly #simulation: Parts;
  readonly #messages: Records<Message>;
  #activities: Activity[] = [];
  #recorded = 0;

  constructor(simulation: Parts) {
    this.#simulation = simulation;
    this.#messages = new Records('message', simulation.changes, {
      keep: simulation.settings.keepRecords,
      isFinished: () => true,
      onRemoved: ({ _id }) => {
        this.#activities = this.#activities.filter(({ messageId }) => messageId !== _id);
      },
    });
  }

  /** Returns the messages that are kept, oldest first. */
  list(): Message[] {
    return this.#messages.list();
  }

  /** Returns the activities that are kept, oldest first. */
  activities(): readonly Activity[] {
    return this.#activities;
  }

  /**
   * Returns one message.
   * @throws SimulatorError `not-found`
   */
  get(messageId: string): Message {
    return this.#messages.get(messageId);
  }

  /**
   * Sends a message. It has an `unopened` event until all its recipients have opened it.
   * @throws SimulatorError `invalid-input` without a recipient, or `not-found` for an unknown user,
   *   template or sequence
   */
  send(input: MessageInput): Message {
    const { clock, random, directory } = this.#simulation;
    const { templates, sequences } = directory.workspace;
    const { subject, to, cc, bcc, senderId, threadId, ...origin } = checked(MESSAGE, input);
    const recipients = [
      ...recipientsOf('to', to),
      ...recipientsOf('cc', cc),
      ...recipientsOf('bcc', bcc),
    ];
    if (recipients.length === 0)
      throw new SimulatorError('invalid-input', 'A message needs a recipient.');
    checkKnown('template', origin.templateId, templates);
    checkKnown('sequence', origin.sequenceId, sequences);
    const number = this.#messages.created;
    return this.#messages.put({
      _id: random.id('message', number),
      threadId: threadId ?? random.id('thread', number),
      subject,
      sentAt: clock.now(),
      senderId: directory.user(senderId)._id,
      recipients,
      ...(origin.templateId !== undefined && { templateId: origin.templateId }),
      ...(origin.sequenceId !== undefined && { sequenceId: origin.sequenceId }),
    });
  }

  /**
   * Records an activity of a recipient, who opened or answered the message, for example.
   * @throws SimulatorError `not-found` for an unknown message or recipient, or `invalid-input` for an
   *   unknown action
   */
  record(messageId: string, input: ActivityInput): Activity {
    const { clock, random, changes, settings } = this.#simulation;
    const { recipients } = this.get(messageId);
    const { recipientEmail = recipients[0]?.email, ...given } = checked(ACTIVITY, input);
    const recipient = recipients.find(({ email }) => email === recipientEmail);
    if (!recipient)
      throw new SimulatorError('not-found', 'The message has no recipient with this address.');
    const activity: Activity = {
      _id: random.id('activity', this.#recorded++),
      messageId,
      at: clock.now(),
      recipientEmail: recipient.email,
      ...activityDefaults(given),
    };
    this.#activities.push(activity);
    if (this.#activities.length > settings.keepRecords) this.#activities.shift();
    changes.emit('message', messageId);
    return activity;
  }

  /** @internal */
  clear(): void {
    this.#messages.clear();
    this.#activities = [];
    this.#recorded = 0;
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
