import type { ActivityEvent } from '@call-webhooks/client';
import type { Ink } from '../terminal/ink.ts';
import { joined, padded, t, type Text } from '../terminal/text.ts';
import type { Columns } from './csv.ts';

type Extras = Partial<Record<'device' | 'location' | 'object', Record<string, unknown>>>;

const time = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString();
};
const of = (part: keyof Extras, field: string) => (event: ActivityEvent) =>
  (event as unknown as Extras)[part]?.[field];

/** The columns of `events --csv`. */
export const EVENT_COLUMNS: Columns<ActivityEvent> = {
  _id: ({ _id }) => _id,
  time,
  action: ({ action }) => action,
  actionName: ({ actionName }) => actionName,
  subject: ({ subject }) => subject,
  recipientEmail: ({ recipientEmail }) => recipientEmail,
  recipientName: ({ recipientName }) => recipientName,
  threadId: ({ threadId }) => threadId,
  userId: ({ userId }) => userId,
  teamIds: ({ teamIds }) => (Array.isArray(teamIds) ? teamIds.join(' ') : teamIds),
  'object.type': of('object', 'type'),
  'object.title': of('object', 'title'),
  'device.os': of('device', 'os'),
  'device.program': of('device', 'program'),
  'device.isMobile': of('device', 'isMobile'),
  'location.city': of('location', 'city'),
  'location.region': of('location', 'region'),
  'location.country': of('location', 'country'),
};

/** An event in one line. Every field may be missing: the service decides what it sends. */
export function eventLine(ink: Ink, event: ActivityEvent): Text {
  const who = event.recipientName
    ? `${event.recipientName} <${event.recipientEmail}>`
    : event.recipientEmail;
  const title = of('object', 'title')(event);
  return joined(
    [
      ink.dim(time(event)),
      ink.cyan(padded(event.action, 10)),
      padded(who, 34),
      ink.bold(event.subject),
      ...(typeof title === 'string' ? [t`${ink.dim('·')} ${title}`] : []),
    ],
    '  ',
  );
}
