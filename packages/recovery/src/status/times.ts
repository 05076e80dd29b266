const DAY_MS = 86_400_000;

/** Made when they are first needed: each takes longer than everything that it formats. */
const formatters = new Map<string, Intl.DateTimeFormat>();

const FORMATS = {
  time: { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  weekday: { weekday: 'long' },
  date: { day: 'numeric', month: 'short' },
  day: { day: 'numeric', month: 'numeric', year: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** How many formatters are kept: a console may be open in many zones. */
const MAX_FORMATTERS = 100;

function shown(name: keyof typeof FORMATS, at: number, timeZone: string | undefined): string {
  const id = `${name} ${timeZone ?? ''}`;
  let formatter = formatters.get(id);
  if (!formatter) {
    if (formatters.size >= MAX_FORMATTERS) formatters.clear();
    const zone = timeZone === undefined ? {} : { timeZone };
    formatter = new Intl.DateTimeFormat('en-GB', { ...FORMATS[name], ...zone });
    formatters.set(id, formatter);
  }
  return formatter.format(at);
}

/** Whether the runtime knows a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-GB', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Shows a time, in milliseconds since the epoch.
 * @param beside a time that stands before it: if that is of another day, this one has its day as well
 */
export type ShowTime = (time: number, beside?: number) => string;

/**
 * A time with its zone: `14:31 UTC`, `Friday 18:03 UTC` in the last six days, else `2 Nov 18:03 UTC`.
 * @param at milliseconds since the epoch
 * @param now milliseconds since the epoch
 * @param timeZone the zone of this process by default
 * @param beside see `ShowTime`
 */
export function shownTime(at: number, now: number, timeZone?: string, beside = now): string {
  const time = shown('time', at, timeZone);
  const dayOf = (date: number) => shown('day', date, timeZone);
  if (dayOf(at) === dayOf(now) && dayOf(at) === dayOf(beside)) return time;
  const day = shown(Math.abs(now - at) < 6 * DAY_MS ? 'weekday' : 'date', at, timeZone);
  return `${day} ${time}`;
}

/** Such as `480 ms`, or `12.5 s`. */
export const shownDuration = (ms: number): string =>
  ms < 1_000 ? `${String(Math.round(ms))} ms` : `${String(Math.round(ms / 100) / 10)} s`;
