/** The seven values of `action` (spec: "Activity event types"). */
export const ACTIVITY_ACTIONS = [
  'unopened',
  'opened',
  'clicked',
  'downloaded',
  'replied',
  'meetinginvites:confirmed',
  'poll:voted',
] as const;

/** One of the seven activity event types. */
export type ActivityAction = (typeof ACTIVITY_ACTIONS)[number];

/** Whether a value is one of the seven activity event types. Never throws. */
export function isActivityAction(value: unknown): value is ActivityAction {
  return (ACTIVITY_ACTIONS as readonly unknown[]).includes(value);
}

/** A recipient of a message. */
export interface EventRecipient {
  /** The email address of the recipient. */
  readonly email: string;
  /** The name of the recipient, or `null` if it was unknown when the email was sent. */
  readonly name: string | null;
}

/** The device on which a message was opened or an attachment downloaded. */
export interface EventDevice {
  /** The operating system. */
  readonly os: string;
  /** The browser or email program. */
  readonly program: string;
  /** Whether it is a mobile device. */
  readonly isMobile: boolean;
}

/** Where a message was opened or an attachment downloaded. */
export interface EventLocation {
  readonly city: string;
  readonly region: string;
  readonly country: string;
}

/** What was clicked (a link) or downloaded (an attachment). */
export interface EventObject {
  /** Any text. */
  readonly type: string;
  /** The name of the link, or the filename of the attachment. */
  readonly title: string;
}

/** The fields of every activity event (spec: "Activity event record"). */
export interface ActivityEventFields {
  /** The unique id of the event. */
  readonly _id: string;
  /** The thread id of the mail provider for the message. */
  readonly threadId: string;
  /** The subject of the message. */
  readonly subject: string;
  /** The time of the event, in milliseconds since the epoch, as in the sample of the spec. */
  readonly timestamp: number;
  /** The id of the user whom the event is for. */
  readonly userId: string;
  /** The ids of the teams with which the event is shared. */
  readonly teamIds: readonly string[];
  /** A description of the action. */
  readonly actionName: string;
  /** The email address of the recipient whom the event is about. */
  readonly recipientEmail: string;
  /** The name of that recipient, or `null` if it was unknown when the email was sent. */
  readonly recipientName: string | null;
  /** All recipients of the message. */
  readonly recipients: readonly EventRecipient[];
}

/**
 * An event without fields of its own. `unopened` is synthetic: sent, but not opened by all
 * recipients. It disappears once all have opened it.
 */
export interface PlainEvent extends ActivityEventFields {
  readonly action: Exclude<ActivityAction, 'opened' | 'clicked' | 'downloaded'>;
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

/**
 * Any other action; this exists in types only. It is an enum because TypeScript narrows a union by
 * literal types: with `string`, `event.action === 'opened'` would not narrow to OpenedEvent.
 */
declare enum UnknownAction {
  Unknown = '',
}

/**
 * An event of a type that this version does not know, with all its fields. At run time its `action` is
 * the string from the service; compare it as a string: `(event.action as string) === '…'`.
 */
export interface UnknownActivityEvent extends ActivityEventFields {
  readonly action: UnknownAction;
  readonly [field: string]: unknown;
}

/** One element of `results`, discriminated by `action`. The service may add fields. */
export type ActivityEvent =
  PlainEvent | OpenedEvent | ClickedEvent | DownloadedEvent | UnknownActivityEvent;
