import type { ActivityEvent, ActivityEventFields } from '@call-webhooks/client';
import type { Directory } from './directory.ts';
import type { Activity, Message } from './message.ts';
import type { Messages } from './messages.ts';

/** An event, with the message that it is about. */
export interface MessageEvent {
  readonly _id: string;
  /** When it happened; Unix milliseconds. */
  readonly time: number;
  readonly action: ActivityEvent['action'];
  readonly message: Message;
  /** Its record. Made only when it is shown: a page shows a few of thousands. */
  record(): ActivityEvent;
}

/**
 * The records of `GET /v1/events` (spec, "Activity event record"): everything that happened, and a
 * synthetic `unopened` for each message that not all of its recipients have opened.
 */
export function activityEvents(messages: Messages, directory: Directory): MessageEvent[] {
  const opened = new Map<string, Set<string>>();
  const events = messages.activities().map((activity): MessageEvent => {
    const { _id, messageId, at, action, recipientEmail } = activity;
    const message = messages.get(messageId);
    if (action === 'opened') {
      const people = opened.get(messageId) ?? new Set();
      opened.set(messageId, people.add(recipientEmail));
    }
    const record = () => recordOf(activity, message, directory);
    return { _id, time: at, action, message, record };
  });
  for (const message of messages.list()) {
    const by = opened.get(message._id) ?? new Set();
    if (message.recipients.every(({ email }) => by.has(email))) continue;
    const record = unopened(message, directory, by);
    const { _id, timestamp: time, action } = record;
    events.push({ _id, time, action, message, record: () => record });
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
    // "whether any has opened" has no field of its own in the spec: said here.
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
