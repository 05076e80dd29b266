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
  readonly email: string;
  /** Null if unknown when the email was sent. */
  readonly name: string | null;
}

/** The device on which a message was opened or an attachment downloaded. */
export interface EventDevice {
  readonly os: string;
  readonly program: string;
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
  readonly _id: string;
  /** The thread id of the mail provider. */
  readonly threadId: string;
  readonly subject: string;
  /** When the event occurred, in epoch milliseconds (as in the spec's sample). */
  readonly timestamp: number;
  readonly userId: string;
  readonly teamIds: readonly string[];
  /** A description of the action. */
  readonly actionName: string;
  readonly recipientEmail: string;
  /** Null if unknown when the email was sent. */
  readonly recipientName: string | null;
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
 * An event of a type that this version does not know, with all its fields. At run time its `action`
 * is the text from the service; compare it as a string: `(event.action as string) === '…'`.
 */
export interface UnknownActivityEvent extends ActivityEventFields {
  readonly action: UnknownAction;
  readonly [field: string]: unknown;
}

/** One element of `results`, discriminated by `action`. The service may add fields. */
export type ActivityEvent =
  PlainEvent | OpenedEvent | ClickedEvent | DownloadedEvent | UnknownActivityEvent;
