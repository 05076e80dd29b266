import { SearchSyntaxError } from '../errors.ts';
import type { ActivityAction } from '../events.ts';
import { OPERATORS, parseEventSearch, startsOperator, type OperatorName } from './parse.ts';

/** The parts of a search. Different parts are combined with "and". */
export interface SearchParts {
  /** Free text, which searches subjects and recipients. */
  readonly text?: string | undefined;
  /**
   * Matches the message subject exactly. It goes with no other part, since the spec allows an exact
   * subject only as the whole search.
   */
  readonly subject?: string | undefined;
  /** Recipients, combined with "or": email addresses, domains or names. */
  readonly to?: string | readonly string[] | undefined;
  /** The first day, `YYYY-MM-DD`; of a Date, its day in UTC counts. */
  readonly since?: string | Date | undefined;
  /** The last day, in the same form. The spec does not say whether it includes the day itself. */
  readonly until?: string | Date | undefined;
  /** One type of event. */
  readonly type?: ActivityAction | undefined;
  /** Messages that used a template, by its name or title; `*` for any template. */
  readonly template?: string | undefined;
  /** Messages that a sequence sent, by its name or `{ id }`; `*` for any sequence. */
  readonly sequence?: string | { readonly id: string } | undefined;
  /** Messages sent by the caller (`'myself'`), a team member (an email address) or a team (a name). */
  readonly from?: string | undefined;
}

/**
 * Writes a search of `GET /v1/events` as text. `client.events` does it for you.
 *
 * @throws {SearchSyntaxError} for what the search language cannot express: it has no escapes, so no
 * value may hold a double quote, and no word of `text` may look like an operator
 *
 * @example
 * searchText({ to: 'example.com', since: '2026-01-31', type: 'opened' });
 * // 'to:example.com since:2026-01-31 type:opened'
 */
export function searchText(parts: SearchParts): string {
  checkNames(parts);
  const { text, subject } = parts;
  const written: string[] = [];
  if (text !== undefined) written.push(words(text));
  if (subject !== undefined) written.push(quoted(checked('subject', subject)));
  for (const name of OPERATORS)
    for (const value of valuesOf(name, parts)) written.push(`${name}:${value}`);
  const search = written.join(' ');
  try {
    parseEventSearch(search);
  } catch (error) {
    // A position in a text that the user has not written says nothing.
    if (!(error instanceof SearchSyntaxError)) throw error;
    throw new SearchSyntaxError(error.reason, error.message.replace(/ \(at position \d+\)$/, ''));
  }
  return search;
}

const known = new Set<string>(['text', 'subject', ...OPERATORS]);

function checkNames(parts: SearchParts): void {
  const unknown = Object.keys(parts).find((name) => !known.has(name));
  if (unknown === undefined) return;
  const message = `a search has no part "${unknown}", only ${[...known].join(', ')}`;
  throw new SearchSyntaxError('unknown-part', message);
}

function valuesOf(name: OperatorName, parts: SearchParts): string[] {
  const value = parts[name];
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((one) => bareIfPossible(name, one));
  if (value instanceof Date) return [dayOf(name, value)];
  if (name === 'sequence' && typeof value === 'object')
    return [bare(name, Reflect.get(value, 'id'))];
  // Names of teams, templates and sequences are written in quotes, as in the spec.
  const named = name === 'template' || name === 'sequence' || (name === 'from' && isTeam(value));
  if (!named || value === '*') return [bareIfPossible(name, value)];
  return [quoted(checked(`${name}:`, value))];
}

/** A team may be called "sales@emea": an address has a domain with a dot. */
const isTeam = (sender: unknown): boolean =>
  sender !== 'myself' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(String(sender));

function dayOf(name: string, date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString().slice(0, 10);
  throw new SearchSyntaxError('invalid-date', `${name}: got an invalid Date`);
}

function bareIfPossible(name: string, value: unknown): string {
  const text = checked(`${name}:`, value);
  return /\s/.test(text) ? quoted(text) : text;
}

function bare(name: string, value: unknown): string {
  const text = checked(`${name}:`, value);
  if (!/\s/.test(text)) return text;
  throw new SearchSyntaxError('invalid-character', `an id of ${name}: cannot contain a space`);
}

const quoted = (value: string): string => `"${value}"`;

/** Checks a value. The message does not repeat it: it may name people. */
function checked(what: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new SearchSyntaxError('empty', `${what} needs a value`);
  if (value.includes('"'))
    throw new SearchSyntaxError('misplaced-quote', `${what} cannot contain a double quote`);
  return value;
}

function words(text: string): string {
  const list = checked('text', text)
    .split(/\s+/)
    .filter((word) => word !== '');
  if (!list.some(startsOperator)) return list.join(' ');
  throw new SearchSyntaxError(
    'operator-in-text',
    'a word of the text would be read as an operator, and the language has no escapes',
  );
}
