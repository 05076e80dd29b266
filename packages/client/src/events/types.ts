/** A person of a message. */
export interface EventRecipient {
  readonly email: string;
  /** Null if unknown when the email was sent. */
  readonly name: string | null;
}

/** Where a message was opened or downloaded with. */
export interface EventDevice {
  readonly os: string;
  readonly program: string;
  readonly isMobile: boolean;
}

/** Where a message was opened or downloaded. */
export interface EventLocation {
  readonly city: string;
  readonly region: string;
  readonly country: string;
}

/** What was clicked (the link's name) or downloaded (the attachment's filename). */
export interface EventObject {
  /** Arbitrary. */
  readonly type: string;
  readonly title: string;
}

/** The fields of every activity event (spec: "Activity event record"). */
export interface ActivityEventFields {
  readonly _id: string;
  /** Thread identifier of the mail provider. */
  readonly threadId: string;
  readonly subject: string;
  /** When the event occurred, in epoch milliseconds (the spec's sample shape). */
  readonly timestamp: number;
  readonly userId: string;
  readonly teamIds: readonly string[];
  /** An arbitrary description of the action. */
  readonly actionName: string;
  readonly recipientEmail: string;
  /** Null if unknown when the email was sent. */
  readonly recipientName: string | null;
  readonly recipients: readonly EventRecipient[];
}

/** Synthetic: sent, but not opened by all recipients. Disappears when all have opened it. */
export interface UnopenedEvent extends ActivityEventFields {
  readonly action: 'unopened';
}

/** A recipient opened the message; one event per opening. */
export interface OpenedEvent extends ActivityEventFields {
  readonly action: 'opened';
  readonly device: EventDevice;
  readonly location: EventLocation;
}

/** A link was clicked. */
export interface ClickedEvent extends ActivityEventFields {
  readonly action: 'clicked';
  readonly object: EventObject;
}

/** A cloud-hosted attachment was downloaded. */
export interface DownloadedEvent extends ActivityEventFields {
  readonly action: 'downloaded';
  readonly device: EventDevice;
  readonly location: EventLocation;
  readonly object: EventObject;
}

/** The message was replied to. */
export interface RepliedEvent extends ActivityEventFields {
  readonly action: 'replied';
}

/** A meeting was confirmed. */
export interface MeetingConfirmedEvent extends ActivityEventFields {
  readonly action: 'meetinginvites:confirmed';
}

/** A poll was voted on. */
export interface PollVotedEvent extends ActivityEventFields {
  readonly action: 'poll:voted';
}

/**
 * Stands for every action outside of the seven; it exists in types alone. An enum, because
 * TypeScript narrows a union by literal types only: were it `string`, `event.action === 'opened'`
 * would not lead to OpenedEvent.
 */
declare enum UnknownAction {
  Unknown = '',
}

/**
 * An event type that this version does not know, kept as it came, fields and all. At run time its
 * `action` is the service's text: compare it as a string, `(event.action as string) === '…'`.
 */
export interface UnknownActivityEvent extends ActivityEventFields {
  readonly action: UnknownAction;
  readonly [field: string]: unknown;
}

/** One element of `results`: discriminated on `action`. Fields may be added by the service. */
export type ActivityEvent =
  | UnopenedEvent
  | OpenedEvent
  | ClickedEvent
  | DownloadedEvent
  | RepliedEvent
  | MeetingConfirmedEvent
  | PollVotedEvent
  | UnknownActivityEvent;
