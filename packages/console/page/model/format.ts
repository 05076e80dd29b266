const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const MINUTE = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const MOMENT = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'long',
  hourCycle: 'h23',
});
const NUMBER = new Intl.NumberFormat();

/** The time zone of every time on the page: `Europe/Oslo`. */
export const ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `12:00:05`. @param time milliseconds since the epoch */
export const clockTime = (time: number): string => CLOCK.format(time);

/** `12:00`, for the axis of a chart. */
export const minuteOf = (time: number): string => MINUTE.format(time);

/** Date and time with the zone, for tooltips and details. */
export const moment = (time: number): string => MOMENT.format(time);

/** The time of today, and the day with it for other days. */
export const shortTime = (time: number, now = Date.now()): string =>
  DAY.format(time) === DAY.format(now)
    ? CLOCK.format(time)
    : `${DAY.format(time)}, ${MINUTE.format(time)}`;

export const count = (value: number): string => NUMBER.format(value);

/** `1 delivery`, `3 deliveries`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** A duration: `12 ms`, `1.5 s`, `4 min`, `3 h`, `2 d`. @param ms milliseconds */
export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${count(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${count(Math.round(ms / 60_000))} min`;
  return ms < 172_800_000
    ? `${count(Math.round(ms / 3_600_000))} h`
    : `${count(Math.round(ms / 86_400_000))} d`;
}

/** `4 min ago`. A time ahead, from a clock that differs, is now. */
export const ago = (time: number, now = Date.now()): string =>
  now - time < 5_000 ? 'just now' : `${duration(now - time)} ago`;

/** `31 Jan, 12:00`, for an axis that is longer than a day. */
export const shortMinute = (time: number): string => `${DAY.format(time)}, ${MINUTE.format(time)}`;
