import { SearchSyntaxError } from '../errors.ts';
import { isActivityAction, type ActivityAction } from '../events.ts';

/**
 * One `to:` operator. The text does not say which of the spec's three forms is meant, so `kind` is
 * guessed from the value:
 * - `email`: one `@` with text on both sides. Compare it with the whole address.
 * - `domain`: dotted letters, such as `example.com`. Compare it with the part after the `@`.
 * - `name`: anything else. Compare it with the display name, not with the local part.
 *
 * All three also cover cc and bcc recipients.
 */
export interface ToTerm {
  readonly kind: 'email' | 'domain' | 'name';
  readonly value: string;
}

/** The value of `template:` or `sequence:`: `*`, or a name, title or id, which the text does not tell apart. */
export type NamedTerm =
  { readonly kind: 'any' } | { readonly kind: 'named'; readonly value: string };

/** The value of `from:`: the caller, the email address of a team member, or else a team's name. */
export type FromTerm =
  | { readonly kind: 'myself' }
  | { readonly kind: 'email'; readonly value: string }
  | { readonly kind: 'team'; readonly value: string };

/**
 * A search of `GET /v1/events`, as `parseEventSearch` reads it.
 * Parts that the search does not have are absent. Different parts are combined with "and".
 */
export interface EventSearchTree {
  /** Free text: searches message subjects and recipients. Words are separated by one space. */
  readonly text?: string;
  /**
   * The exact subject, written in double quotes. It is always the whole search, without any other part.
   */
  readonly subject?: string;
  /** Recipients, combined with "or". Empty if there are none. */
  readonly to: readonly ToTerm[];
  /** `YYYY-MM-DD`, a calendar date. */
  readonly since?: string;
  /** `YYYY-MM-DD`, a calendar date. The spec does not say whether it includes the day itself. */
  readonly until?: string;
  readonly type?: ActivityAction;
  readonly template?: NamedTerm;
  readonly sequence?: NamedTerm;
  readonly from?: FromTerm;
}

/** The operators, in the order of the canonical text. */
export const OPERATORS = ['to', 'since', 'until', 'type', 'template', 'sequence', 'from'] as const;

/** The name of an operator, in lower case as in the spec. `To:` is plain text. */
export type OperatorName = (typeof OPERATORS)[number];

/**
 * Parses a search of `GET /v1/events` (spec: "Search string rules").
 *
 * Parts may come in any order. All words outside of operators are free text. A text in double quotes is
 * the exact subject, and then the whole search. Text that looks like an operator but is not one of the
 * seven (`Re:`, `https://…`) is free text. An empty text gives an empty tree.
 *
 * Where the spec is silent, this function throws instead of guessing: an exact subject together with
 * free text, operators or another subject, a quote within a word, an operator without a value.
 *
 * @throws {SearchSyntaxError} with the `position` in the text
 *
 * @example
 * parseEventSearch('offer type:opened'); // { text: 'offer', to: [], type: 'opened' }
 */
export function parseEventSearch(text: string): EventSearchTree {
  const to: ToTerm[] = [];
  const tree: { -readonly [Part in keyof EventSearchTree]: EventSearchTree[Part] } = { to };
  for (const { name, value, isQuoted, position, valuePosition } of scan(text)) {
    const isSubject = name === undefined && isQuoted;
    const isFirst = to.length === 0 && Object.keys(tree).length === 1;
    if (tree.subject !== undefined || (isSubject && !isFirst))
      throw new SearchSyntaxError('an exact subject must be the whole search', position);
    if (isSubject) tree.subject = value;
    else if (name === undefined)
      tree.text = tree.text === undefined ? value : `${tree.text} ${value}`;
    else if (name === 'to') to.push(toTerm(value));
    else if (tree[name] === undefined)
      Object.assign(tree, { [name]: readers[name](value, valuePosition) });
    else throw new SearchSyntaxError(`${name}: can be given only once`, position);
  }
  return tree;
}

/** Guesses what the value of a `to:` means, see ToTerm. */
function toTerm(value: string): ToTerm {
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return { kind: 'email', value };
  if (/^(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}$/u.test(value)) return { kind: 'domain', value };
  return { kind: 'name', value };
}

/** What the values of the other operators mean. Values come without their quotes. */
const readers: {
  readonly [Name in Exclude<OperatorName, 'to'>]: (
    value: string,
    position: number,
  ) => NonNullable<EventSearchTree[Name]>;
} = {
  since: calendarDate,
  until: calendarDate,
  type(value, position) {
    if (isActivityAction(value)) return value;
    throw new SearchSyntaxError('type: needs one of the seven activity event types', position);
  },
  template: namedTerm,
  sequence: namedTerm,
  from(value) {
    if (value === 'myself') return { kind: 'myself' };
    return { kind: isAddress(value) ? 'email' : 'team', value };
  },
};

/** A team may be called "sales@emea": an address has a domain with a dot. */
export function isAddress(sender: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(sender);
}

function namedTerm(value: string): NamedTerm {
  return value === '*' ? { kind: 'any' } : { kind: 'named', value };
}

function calendarDate(text: string, position: number): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !text.startsWith('0000')) {
    const date = new Date(`${text}T00:00:00Z`);
    // Some engines read 2026-02-30 as a day of March, others refuse it.
    if (!Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)) return text;
  }
  throw new SearchSyntaxError(
    'since: and until: need a calendar date in the form YYYY-MM-DD',
    position,
  );
}

/** A piece of a search text. Positions are indexes into the text, in UTF-16 code units. */
interface Token {
  /** The operator; undefined for a word, or a text in quotes. */
  readonly name: OperatorName | undefined;
  readonly value: string;
  readonly isQuoted: boolean;
  readonly position: number;
  readonly valuePosition: number;
}

/**
 * Splits a search text into words, quoted values and operators.
 *
 * @throws {SearchSyntaxError} with the position of what is invalid
 */
function* scan(text: string): Generator<Token, void> {
  const pattern = /\s*(?:(to|since|until|type|template|sequence|from):)?("[^"]*"?|[^\s"]*)/y;
  const trimmed = text.trimEnd();
  for (let end = 0; end < trimmed.length; end = pattern.lastIndex) {
    pattern.lastIndex = end;
    const [all = '', name, raw = ''] = pattern.exec(trimmed) ?? [];
    const position = end + all.search(/\S/);
    const valuePosition = pattern.lastIndex - raw.length;
    const isQuoted = raw.startsWith('"');
    if (isQuoted && !raw.slice(1).endsWith('"'))
      throw new SearchSyntaxError('a double quote is not closed', valuePosition);
    const value = isQuoted ? raw.slice(1, -1) : raw;
    // Control characters, and halves of surrogate pairs, which would be sent as another character.
    const forbidden = raw.search(/[\p{Cc}\p{Cs}]/u);
    if (forbidden >= 0)
      throw new SearchSyntaxError(
        'a search cannot contain a control character',
        valuePosition + forbidden,
      );
    if (value.trim() === '')
      throw new SearchSyntaxError(
        isQuoted ? 'the quotes are empty' : `${name}: needs a value`,
        valuePosition,
      );
    if (/\S/.test(trimmed.charAt(pattern.lastIndex)))
      throw new SearchSyntaxError('quotes must have spaces around them', pattern.lastIndex);
    yield { name: name as OperatorName | undefined, value, isQuoted, position, valuePosition };
  }
}
