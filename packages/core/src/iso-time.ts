const TIME =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d(?:\.\d{1,9})?))?(Z|[+-]\d\d:?\d\d)?)?$/i;

/**
 * Reads a time in ISO 8601: a day, or a day with a time. A time without a zone is UTC.
 * @returns milliseconds since the epoch; `undefined` for any other string, and for days that do not
 *   exist
 */
export function isoTime(given: string): number | undefined {
  const [, day, time = '00:00', seconds = '00', zone = 'Z'] = TIME.exec(given.trim()) ?? [];
  if (day === undefined) return undefined;
  // The day in its own zone: some engines read February 30 as a day in March.
  const own = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(own.getTime()) || !own.toISOString().startsWith(day)) return undefined;
  const offset = zone.toUpperCase().replace(/^([+-]\d\d):?/, '$1:');
  const ms = Date.parse(`${day}T${time}:${seconds}${offset}`);
  return Number.isNaN(ms) ? undefined : ms;
}
