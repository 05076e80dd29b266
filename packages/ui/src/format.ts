const TIME = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const ZONE = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' });

/** `12:00:05`, in the user's time zone. @param time milliseconds since the epoch */
export const timeOfDay = (time: number): string => TIME.format(time);

/** `31 Jan 2026`, in the user's language. */
export const day = (time: number): string => DAY.format(time);

/** The name of the user's time zone at a time: `CET`, `UTC`. */
export const zoneOf = (time: number): string =>
  ZONE.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';

/** Date, time and zone, and the same in UTC, for tooltips. */
export function moment(time: number): string {
  const local = `${day(time)}, ${timeOfDay(time)} ${zoneOf(time)}`;
  const utc = new Date(time).toISOString().replace('T', ' ').slice(0, 19);
  return zoneOf(time) === 'UTC' ? local : `${local} (${utc} UTC)`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** The two biggest units of a duration: `4m 52s`. @param ms milliseconds */
export function span(ms: number): string {
  let seconds = Math.max(0, Math.round(ms / 1_000));
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0 || (unit === 's' && parts.length === 0)) parts.push(`${String(count)}${unit}`);
  }
  return parts.slice(0, 2).join(' ');
}

const NUMBER = new Intl.NumberFormat();

export const count = (value: number): string => NUMBER.format(value);

/** `1 delivery`, `3 deliveries`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** How long something took: `12 ms`, `1.5 s`, `4 min`, `3 h`, `2 d`. @param ms milliseconds */
export function duration(ms: number): string {
  if (ms < 1) return '< 1 ms';
  if (ms < 1_000) return `${count(Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${count(Math.round(ms / 60_000))} min`;
  return ms < 172_800_000
    ? `${count(Math.round(ms / 3_600_000))} h`
    : `${count(Math.round(ms / 86_400_000))} d`;
}

const MINUTE = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const SHORT_DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

/** `12:00`, for the axis of a chart. */
export const minuteOf = (time: number): string => MINUTE.format(time);

/** `31 Jan, 12:00`, for an axis that is longer than a day. */
export const shortMinute = (time: number): string =>
  `${SHORT_DAY.format(time)}, ${MINUTE.format(time)}`;

/** The time of today, and the day with it for other days. */
export const shortTime = (time: number, now = Date.now()): string =>
  SHORT_DAY.format(time) === SHORT_DAY.format(now) ? timeOfDay(time) : shortMinute(time);

/** `4 min ago`. A time ahead, from a clock that differs, is now. */
export const ago = (time: number, now = Date.now()): string =>
  now - time < 5_000 ? 'just now' : `${duration(now - time)} ago`;
