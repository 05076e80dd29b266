import { SearchSyntaxError } from '../errors/index.ts';

function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // 2026-02-30 is read as a day of March by some engines, and refused by others.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

/**
 * The value of `since:` and `until:`.
 *
 * @param date `YYYY-MM-DD`, or a Date, of which the day in UTC counts
 * @throws {SearchSyntaxError} when it is not a date of the calendar from year 1 to 9999
 */
export function searchDate(operator: string, date: string | Date, position?: number): string {
  const invalid = date instanceof Date && Number.isNaN(date.getTime());
  const text = date instanceof Date && !invalid ? date.toISOString().slice(0, 10) : date;
  if (typeof text === 'string' && isCalendarDate(text)) return text;
  throw new SearchSyntaxError(
    'invalid-date',
    `${operator}: needs a date of the calendar, written YYYY-MM-DD`,
    position,
  );
}
