import { duration, timeOfDay } from '@call-webhooks/ui';

const MINUTE = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** The time zone of every time on the page: `Europe/Oslo`. */
export const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `12:00`, for the axis of a chart. */
export const minuteOf = (time: number): string => MINUTE.format(time);

/** The time of today, and the day with it for other days. */
export const shortTime = (time: number, now = Date.now()): string =>
  DAY.format(time) === DAY.format(now) ? timeOfDay(time) : shortMinute(time);

/** `4 min ago`. A time ahead, from a clock that differs, is now. */
export const ago = (time: number, now = Date.now()): string =>
  now - time < 5_000 ? 'just now' : `${duration(now - time)} ago`;

/** `31 Jan, 12:00`, for an axis that is longer than a day. */
export const shortMinute = (time: number): string => `${DAY.format(time)}, ${MINUTE.format(time)}`;
