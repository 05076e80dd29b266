import type { ActivityEvent, ActivityEventFields } from '@call-webhooks/client';
import type { Directory } from './directory.ts';
import type { Activity, Message } from './message.ts';
import type { Messages } from './messages.ts';

/** An event and its message. */
export interface MessageEvent {
  readonly _id: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly action: ActivityEvent['action'];
  readonly message: Message;
  /** The titles of all objects of the message that were clicked or downloaded. */
  readonly objectTitles: readonly string[];
  /** Builds the record: only for the events of a page. */
  record(): ActivityEvent;
}

/**
 * All events of `GET /v1/events` (spec, "Activity event record"): the activities, and a synthetic
 * `unopened` event for each message that has recipients who did not open it.
 */
export function activityEvents(messages: Messages, directory: Directory): MessageEvent[] {
  const opened = new Map<string, Set<string>>();
  const titles = new Map<string, string[]>();
  const titlesOf = (messageId: string): string[] => {
    const known = titles.get(messageId) ?? [];
    titles.set(messageId, known);
    return known;
  };
  const events = messages.activities().map((activity): MessageEvent => {
    const { _id, messageId, at, action, recipientEmail, object } = activity;
    const message = messages.get(messageId);
    if (action === 'opened') {
      const people = opened.get(messageId) ?? new Set();
      opened.set(messageId, people.add(recipientEmail));
    }
    const objectTitles = titlesOf(messageId);
    if (object) objectTitles.push(object.title);
    const record = () => recordOf(activity, message, directory);
    return { _id, time: at, action, message, objectTitles, record };
  });
  for (const message of messages.list()) {
    const by = opened.get(message._id) ?? new Set();
    if (message.recipients.every(({ email }) => by.has(email))) continue;
    const record = unopened(message, directory, by);
    const { _id, timestamp: time, action } = record;
    const objectTitles = titlesOf(message._id);
    events.push({ _id, time, action, message, objectTitles, record: () => record });
  }
  return events;
}

function recordOf(activity: Activity, message: Message, directory: Directory): ActivityEvent {
  const { _id, at, recipientEmail, action, actionName, device, location, object } = activity;
  return {
    ...fieldsOf(message, directory, recipientEmail),
    _id,
    timestamp: at,
    action,
    actionName,
    ...(device && { device }),
    ...(location && { location }),
    ...(object && { object }),
  } as ActivityEvent;
}

function unopened(message: Message, directory: Directory, by: ReadonlySet<string>): ActivityEvent {
  return {
    ...fieldsOf(message, directory, message.recipients[0]?.email ?? ''),
    _id: `${message._id}:unopened`,
    timestamp: message.sentAt,
    action: 'unopened',
    // The spec shows no field for "whether any has opened".
    actionName: by.size === 0 ? 'Opened by nobody' : 'Opened by some',
  };
}

function fieldsOf(
  message: Message,
  directory: Directory,
  recipientEmail: string,
): Omit<ActivityEventFields, '_id' | 'timestamp' | 'actionName'> {
  const { threadId, subject, senderId, recipients } = message;
  return {
    threadId,
    subject,
    userId: senderId,
    teamIds: directory.user(senderId).teamIds,
    recipientEmail,
    recipientName: recipients.find(({ email }) => email === recipientEmail)?.name ?? null,
    recipients: recipients.map(({ email, name }) => ({ email, name })),
  };
}
