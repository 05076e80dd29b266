import { SearchSyntaxError } from '../errors/index.ts';

// Control characters and lone surrogates: neither has a place in a query, and a lone surrogate
// would be sent as something else than what was asked for.
const forbidden = /[\p{Cc}\p{Cs}]/u;

/** Where a text holds a character that no word or quoted value may hold; -1 when it does not. */
export function forbiddenAt(text: string): number {
  return text.search(forbidden);
}

/**
 * Checks a value before it is written.
 *
 * @throws {SearchSyntaxError} when it is blank or holds a quote, a control character or half a
 * surrogate pair: the language has no escapes. The value is not repeated, it may name people.
 */
export function checkValue(what: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new SearchSyntaxError('empty', `${what} needs a value`);
  }
  if (value.includes('"')) {
    throw new SearchSyntaxError('misplaced-quote', `${what} cannot hold a double quote`);
  }
  if (forbiddenAt(value) >= 0) {
    throw new SearchSyntaxError('invalid-character', `${what} cannot hold a control character`);
  }
}
