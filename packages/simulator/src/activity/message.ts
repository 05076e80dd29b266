import type {
  ActivityAction,
  EventDevice,
  EventLocation,
  EventObject,
} from '@call-webhooks/client';

/** A recipient of a message, and the field with their address. */
export interface Recipient {
  readonly email: string;
  /** `null` when unknown. */
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

/** The type of an activity. `unopened` is synthetic: it cannot be recorded. */
export type MessageAction = Exclude<ActivityAction, 'unopened'>;

/** An activity of a message: a recipient opened it, for example. */
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

/** An address, with or without a display name. */
export type Address =
  string | { readonly email: string; readonly name?: string | null | undefined };

/** A new message. */
export interface MessageInput {
  subject: string;
  to: Address | readonly Address[];
  cc?: Address | readonly Address[] | undefined;
  bcc?: Address | readonly Address[] | undefined;
  /** The `_id` of a user; the workspace's first user by default. */
  senderId?: string | undefined;
  /** A new thread by default. */
  threadId?: string | undefined;
  /** The `_id` of a template of the workspace. */
  templateId?: string | undefined;
  /** The `_id` of a sequence of the workspace. */
  sequenceId?: string | undefined;
}

/** A new activity. */
export interface ActivityInput {
  action: MessageAction;
  /** The recipient who acted; the first recipient of the message by default. */
  recipientEmail?: string | undefined;
  actionName?: string | undefined;
  device?: EventDevice | undefined;
  location?: EventLocation | undefined;
  object?: EventObject | undefined;
}
