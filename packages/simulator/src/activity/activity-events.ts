import type { ActivityEvent, ActivityEventFields } from '@call-webhooks/client';
import type { Directory } from './directory.ts';
import type { Message } from './message.ts';
import type { Messages } from './messages.ts';

/** An event, with the message that it is about. */
export interface MessageEvent {
  readonly event: ActivityEvent;
  readonly message: Message;
}

/**
 * The records of `GET /v1/events` (spec, "Activity event record"): everything that happened, and a
 * synthetic `unopened` for each message that not all of its recipients have opened.
 */
export function activityEvents(messages: Messages, directory: Directory): MessageEvent[] {
  const opened = new Map<string, Set<string>>();
  const events = messages.activities().map((activity): MessageEvent => {
    const { messageId, recipientEmail, action, actionName, device, location, object } = activity;
    const message = messages.get(messageId);
    if (action === 'opened') {
      const people = opened.get(messageId) ?? new Set();
      opened.set(messageId, people.add(recipientEmail));
    }
    const fields = fieldsOf(message, directory, recipientEmail);
    const event = {
      ...fields,
      _id: activity._id,
      timestamp: activity.at,
      action,
      actionName,
      ...(device && { device }),
      ...(location && { location }),
      ...(object && { object }),
    } as ActivityEvent;
    return { event, message };
  });
  for (const message of messages.list()) {
    const event = unopened(message, directory, opened.get(message._id) ?? new Set());
    if (event) events.push({ event, message });
  }
  return events;
}

function unopened(
  message: Message,
  directory: Directory,
  by: ReadonlySet<string>,
): ActivityEvent | undefined {
  if (message.recipients.every(({ email }) => by.has(email))) return undefined;
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
