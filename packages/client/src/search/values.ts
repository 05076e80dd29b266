import { SearchSyntaxError } from '../errors/index.ts';

// Control characters, and halves of surrogate pairs, which would be sent as another character.
const forbidden = /[\p{Cc}\p{Cs}]/u;

/** The index of a character that no word or quoted value may hold, or -1. */
export function forbiddenAt(text: string): number {
  return text.search(forbidden);
}

/**
 * Checks a value before it is written.
 *
 * @throws {SearchSyntaxError} if it is blank, or holds a quote, a control character or half of a
 * surrogate pair: the language has no escapes. The message does not repeat the value, which may name
 * people.
 */
export function checkValue(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new SearchSyntaxError('empty', `${what} needs a value`);
  }
  if (value.includes('"')) {
    throw new SearchSyntaxError('misplaced-quote', `${what} cannot contain a double quote`);
  }
  if (forbiddenAt(value) >= 0) {
    throw new SearchSyntaxError('invalid-character', `${what} cannot contain a control character`);
  }
}

/**
 * Checks the value of `since:` or `until:`, and returns it as text.
 *
 * @param date `YYYY-MM-DD`, or a Date, whose day in UTC counts
 * @throws {SearchSyntaxError} if it is not a calendar date of the years 1 to 9999
 */
export function searchDate(operator: string, date: string | Date, position?: number): string {
  const invalid = date instanceof Date && Number.isNaN(date.getTime());
  const text = date instanceof Date && !invalid ? date.toISOString().slice(0, 10) : date;
  if (typeof text === 'string' && isCalendarDate(text)) return text;
  throw new SearchSyntaxError(
    'invalid-date',
    `${operator}: needs a calendar date in the form YYYY-MM-DD`,
    position,
  );
}

function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // Some engines read 2026-02-30 as a day of March, others refuse it.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
