/**
 * Reads a `Retry-After` header in either of its forms, a number of seconds or an HTTP date.
 *
 * @param now the wall clock, in milliseconds
 * @returns whole seconds from now, rounded up, never negative; undefined when it is neither form
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  const value = header.trim();
  if (/^\d{1,10}$/.test(value)) return Number(value);
  // Date.parse also takes texts that are no HTTP dates, such as "1.5": a date starts with its day.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined;
  // The oldest of the three date forms has no zone, and would be read as local time.
  const date = Date.parse(/\d{4}$/.test(value) ? `${value} GMT` : value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}
