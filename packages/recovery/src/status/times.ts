const DAY_MS = 86_400_000;

/** Made when they are first needed: each takes longer than everything that it formats. */
const formatters = new Map<string, Intl.DateTimeFormat>();

const FORMATS = {
  time: { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' },
  weekday: { weekday: 'long' },
  date: { day: 'numeric', month: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

function shown(name: keyof typeof FORMATS, at: number): string {
  const formatter = formatters.get(name) ?? new Intl.DateTimeFormat('en-GB', FORMATS[name]);
  formatters.set(name, formatter);
  return formatter.format(at);
}

/**
 * A time in the zone of this process, which is named: `14:31 UTC`, `Friday 18:03 UTC` in the last six days,
 * else `2 Nov 18:03 UTC`.
 * @param at milliseconds since the epoch
 * @param now milliseconds since the epoch
 */
export function shownTime(at: number, now: number): string {
  const time = shown('time', at);
  const dayOf = (date: number) => new Date(date).toDateString();
  if (dayOf(at) === dayOf(now)) return time;
  const day = shown(Math.abs(now - at) < 6 * DAY_MS ? 'weekday' : 'date', at);
  return `${day} ${time}`;
}

/** Such as `480 ms`, or `12.5 s`. */
export const shownDuration = (ms: number): string =>
  ms < 1_000 ? `${String(Math.round(ms))} ms` : `${String(Math.round(ms / 100) / 10)} s`;
