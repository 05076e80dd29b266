import type { ActivityEvent } from '@call-webhooks/client';
import type { Columns } from '../../service/list.ts';
import type { Colors } from '../../terminal/colors.ts';
import { join, pad, t, type Text } from '../../terminal/text.ts';

type Extras = Partial<Record<'device' | 'location' | 'object', Record<string, unknown>>>;

const time = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString();
};
const nested = (part: keyof Extras, field: string) => (event: ActivityEvent) =>
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
  'object.type': nested('object', 'type'),
  'object.title': nested('object', 'title'),
  'device.os': nested('device', 'os'),
  'device.program': nested('device', 'program'),
  'device.isMobile': nested('device', 'isMobile'),
  'location.city': nested('location', 'city'),
  'location.region': nested('location', 'region'),
  'location.country': nested('location', 'country'),
};

/** One event in one line. */
export function eventLine({ bold, cyan, dim }: Colors, event: ActivityEvent): Text {
  const title = nested('object', 'title')(event);
  return join(
    [
      dim(time(event).replace(/T(\d\d:\d\d).*/, ' $1')),
      cyan(pad(event.action, 10)),
      pad(event.recipientEmail, 24),
      bold(event.subject),
      ...(typeof title === 'string' ? [t`${dim('·')} ${title}`] : []),
    ],
    '  ',
  );
}
