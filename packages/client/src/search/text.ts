import { SearchSyntaxError } from '../errors.ts';
import type { ActivityAction } from '../events.ts';
import { isAddress, OPERATORS, parseEventSearch, type OperatorName } from './parse.ts';

/** The parts of a search. Different parts are combined with "and". */
export interface SearchParts {
  /** Free text, which searches subjects and recipients. */
  readonly text?: string | undefined;
  /**
   * Matches the message subject exactly. It cannot be combined with any other part, because the spec
   * allows an exact subject only as the whole search.
   */
  readonly subject?: string | undefined;
  /** Recipients, combined with "or": email addresses, domains or names. */
  readonly to?: string | readonly string[] | undefined;
  /** The first day, as `YYYY-MM-DD` or a Date, whose day in UTC is used. */
  readonly since?: string | Date | undefined;
  /**
   * The last day, as `YYYY-MM-DD` or a Date, whose day in UTC is used. The spec does not say whether
   * the day itself is included.
   */
  readonly until?: string | Date | undefined;
  /** The type of the events. */
  readonly type?: ActivityAction | undefined;
  /** Messages that used a template, by its name or title; `*` for any template. */
  readonly template?: string | undefined;
  /** Messages that a sequence sent, by its name or `{ id }`; `*` for any sequence. */
  readonly sequence?: string | { readonly id: string } | undefined;
  /** Messages sent by the caller (`'myself'`), a team member (an email address) or a team (a name). */
  readonly from?: string | undefined;
}

/**
 * Writes a search of `GET /v1/events` as text. `client.events` calls it for you.
 *
 * @throws {SearchSyntaxError} for what the search language cannot express: it has no escapes, so no
 *   value may contain a double quote, and no word of `text` may look like an operator
 * @example
 * searchText({ to: 'example.com', since: '2026-01-31', type: 'opened' });
 * // 'to:example.com since:2026-01-31 type:opened'
 */
export function searchText(parts: SearchParts): string {
  const known: readonly string[] = ['text', 'subject', ...OPERATORS];
  const unknown = Object.keys(parts).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new SearchSyntaxError(
      `a search has no part "${unknown}"; its parts are ${known.join(', ')}`,
    );
  const { text, subject } = parts;
  const written: string[] = [];
  if (text !== undefined) written.push(words(text));
  if (subject !== undefined) written.push(`"${checked('subject', subject)}"`);
  for (const name of OPERATORS)
    for (const value of valuesOf(name, parts)) written.push(`${name}:${value}`);
  const search = written.join(' ');
  try {
    parseEventSearch(search);
  } catch (error) {
    // A position in a text that the user has not written says nothing.
    throw new SearchSyntaxError((error as Error).message.replace(/ \(at position \d+\)$/, ''));
  }
  return search;
}

function valuesOf(name: OperatorName, parts: SearchParts): string[] {
  const value = parts[name];
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((one) => quotedIfNeeded(name, one));
  if (value instanceof Date)
    return [Number.isNaN(value.getTime()) ? 'invalid' : value.toISOString().slice(0, 10)];
  if (name === 'sequence' && typeof value === 'object') {
    const id = checked(`${name}:`, Reflect.get(value, 'id'));
    if (/\s/.test(id)) throw new SearchSyntaxError('an id of sequence: cannot contain a space');
    return [id];
  }
  // Names of teams, templates and sequences are written in quotes, as in the spec.
  const isTeam = name === 'from' && value !== 'myself' && !isAddress(value as string);
  const isNamed = name === 'template' || name === 'sequence' || isTeam;
  if (!isNamed || value === '*') return [quotedIfNeeded(name, value)];
  return [`"${checked(`${name}:`, value)}"`];
}

function quotedIfNeeded(name: string, value: unknown): string {
  const text = checked(`${name}:`, value);
  return /\s/.test(text) ? `"${text}"` : text;
}

/** Checks a value. The message does not repeat it: it may name people. */
function checked(what: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '')
    throw new SearchSyntaxError(`${what} needs a value`);
  if (value.includes('"')) throw new SearchSyntaxError(`${what} cannot contain a double quote`);
  return value;
}

function words(text: string): string {
  const list = checked('text', text).trim().split(/\s+/);
  const operator = new RegExp(`^(?:${OPERATORS.join('|')}):`);
  if (!list.some((word) => operator.test(word))) return list.join(' ');
  throw new SearchSyntaxError(
    'a word of the text would be read as an operator, and the language has no escapes',
  );
}
