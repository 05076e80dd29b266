const DAY_MS = 86_400_000;

/**
 * A time in the zone of this process, which is named: `14:31 UTC`, `Friday 18:03 UTC` in the last six days,
 * else `2 Nov 18:03 UTC`.
 * @param at milliseconds since the epoch
 * @param now milliseconds since the epoch
 */
export function shownTime(at: number, now: number): string {
  const shown = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat('en-GB', options).format(at);
  const time = shown({ hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
  const dayOf = (date: number) => new Date(date).toDateString();
  if (dayOf(at) === dayOf(now)) return time;
  if (Math.abs(now - at) < 6 * DAY_MS) return `${shown({ weekday: 'long' })} ${time}`;
  return `${shown({ day: 'numeric', month: 'short' })} ${time}`;
}

/** Such as `480 ms`, or `12.5 s`. */
export const shownDuration = (ms: number): string =>
  ms < 1_000 ? `${String(Math.round(ms))} ms` : `${String(Math.round(ms / 100) / 10)} s`;
