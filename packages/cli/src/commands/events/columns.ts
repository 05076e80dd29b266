import type { ActivityEvent } from '@call-webhooks/client';
import type { Columns, ShownColumn } from '../../service/list.ts';
import { dateTime } from '../../terminal/format.ts';

type Extras = Partial<Record<'device' | 'location' | 'object', Record<string, unknown>>>;

const time = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : date.toISOString();
};
const shownTime = ({ timestamp }: ActivityEvent): string => {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : dateTime(date);
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

const title = nested('object', 'title');

/** The columns of the table. */
export const SHOWN_COLUMNS: readonly ShownColumn<ActivityEvent>[] = [
  { title: 'time', width: '2026-01-31 16:49:39Z'.length, value: shownTime },
  { title: 'action', width: 'downloaded'.length, value: ({ action }) => action },
  {
    title: 'recipient',
    cut: 'middle',
    width: 20,
    min: 12,
    value: ({ recipientEmail }) => recipientEmail,
  },
  { title: 'subject', cut: 'end', width: 20, min: 16, value: ({ subject }) => subject },
  {
    title: 'object',
    cut: 'end',
    drop: 1,
    value: (event) => {
      const given = title(event);
      return typeof given === 'string' ? given : '';
    },
  },
];
