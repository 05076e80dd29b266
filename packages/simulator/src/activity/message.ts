import type {
  ActivityAction,
  EventDevice,
  EventLocation,
  EventObject,
} from '@call-webhooks/client';

/** A recipient of a message, and where their address stood. */
export interface Recipient {
  readonly email: string;
  /** `null`: not known when the message was sent. */
  readonly name: string | null;
  readonly field: 'to' | 'cc' | 'bcc';
}

/** A message that a user sent. */
export interface Message {
  readonly _id: string;
  readonly threadId: string;
  readonly subject: string;
  /** Milliseconds of the simulator's clock. */
  readonly sentAt: number;
  /** The `_id` of a user. */
  readonly senderId: string;
  readonly recipients: readonly Recipient[];
  readonly templateId?: string;
  readonly sequenceId?: string;
}

/** What can happen to a message; `unopened` is synthetic, and nothing that happens. */
export type MessageAction = Exclude<ActivityAction, 'unopened'>;

/** Something that happened to a message. */
export interface Activity {
  readonly _id: string;
  readonly messageId: string;
  readonly action: MessageAction;
  readonly actionName: string;
  /** Milliseconds of the simulator's clock. */
  readonly at: number;
  readonly recipientEmail: string;
  /** Only with `opened` and `downloaded`. */
  readonly device?: EventDevice;
  /** Only with `opened` and `downloaded`. */
  readonly location?: EventLocation;
  /** Only with `clicked` and `downloaded`. */
  readonly object?: EventObject;
}

/** An address: alone, or with the name that is shown with it. */
export type Address =
  string | { readonly email: string; readonly name?: string | null | undefined };

/** What a message is made of. */
export interface MessageInput {
  subject: string;
  to: Address | readonly Address[];
  cc?: Address | readonly Address[] | undefined;
  bcc?: Address | readonly Address[] | undefined;
  /** The `_id` of a user; the workspace's first user by default. */
  senderId?: string | undefined;
  /** The thread that it belongs to; a new one by default. */
  threadId?: string | undefined;
  /** The `_id` of a template of the workspace. */
  templateId?: string | undefined;
  /** The `_id` of a sequence of the workspace. */
  sequenceId?: string | undefined;
}

/** What happened to a message. */
export interface ActivityInput {
  action: MessageAction;
  /** Whose doing it is: an address of the message; its first recipient by default. */
  recipientEmail?: string | undefined;
  actionName?: string | undefined;
  device?: EventDevice | undefined;
  location?: EventLocation | undefined;
  object?: EventObject | undefined;
}
