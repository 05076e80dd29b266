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
  /** The exact subject, written in double quotes. It is the whole search: no other part goes with it. */
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
 * Parts may come in any order. All words outside of operators are free text. A text in double quotes
 * is the exact subject, and then the whole search. What looks like an operator but is none of the
 * seven (`Re:`, `https://…`) is free text. An empty text gives an empty tree.
 *
 * What the spec leaves open is an error, not a guess: an exact subject together with free text,
 * operators or another subject, a quote within a word, an operator without a value.
 *
 * @throws {SearchSyntaxError} with `reason` and the `position` in the text
 *
 * @example
 * parseEventSearch('offer type:opened'); // { text: 'offer', to: [], type: 'opened' }
 */
export function parseEventSearch(text: string): EventSearchTree {
  // Not in the tree, so that a long list of recipients is not copied for each of them.
  const to: ToTerm[] = [];
  let tree: EventSearchTree = { to };
  for (const token of scan(text)) {
    if (token.kind === 'operator' && token.name === 'to' && tree.subject === undefined)
      to.push(toTerm(token.value));
    else tree = withToken(tree, token);
  }
  return tree;
}

function withToken(tree: EventSearchTree, token: Token): EventSearchTree {
  if (token.kind === 'operator') return withOperator(tree, token);
  if (token.kind === 'quoted' && tree.subject !== undefined) {
    throw duplicate('an exact subject', token.position);
  }
  if (tree[token.kind === 'quoted' ? 'text' : 'subject'] !== undefined) {
    throw new SearchSyntaxError(
      'text-and-subject',
      'free text and an exact subject cannot be combined',
      token.position,
    );
  }
  if (token.kind === 'quoted') {
    if (hasOperators(tree)) throw subjectAndOperators(token.position);
    return { ...tree, subject: token.value };
  }
  return { ...tree, text: tree.text === undefined ? token.value : `${tree.text} ${token.value}` };
}

/** Guesses what the value of a `to:` means, see ToTerm. */
function toTerm(value: string): ToTerm {
  if (/^[^\s@]+@[^\s@]+$/.test(value)) return { kind: 'email', value };
  if (/^(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]{2,}$/u.test(value)) return { kind: 'domain', value };
  return { kind: 'name', value };
}

function namedTerm(value: string): NamedTerm {
  return value === '*' ? { kind: 'any' } : { kind: 'named', value };
}

function fromTerm(value: string): FromTerm {
  if (value === 'myself') return { kind: 'myself' };
  // A team may be called "sales@emea": an address has a domain with a dot.
  const isEmail = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
  return { kind: isEmail ? 'email' : 'team', value };
}

function activityType(value: string, position: number): ActivityAction {
  if (isActivityAction(value)) return value;
  throw new SearchSyntaxError(
    'unknown-type',
    'type: needs one of the seven activity event types',
    position,
  );
}

function duplicate(what: string, position: number): SearchSyntaxError {
  return new SearchSyntaxError('duplicate', `${what} can be given only once`, position);
}

function subjectAndOperators(position: number): SearchSyntaxError {
  return new SearchSyntaxError(
    'subject-and-operators',
    'an exact subject must be the whole search and cannot be combined with operators',
    position,
  );
}

/** Adds one operator to a tree. Values get their meaning only here. The value comes without its quotes. */
function withOperator(
  tree: EventSearchTree,
  { name, value, position, valuePosition }: Extract<Token, { kind: 'operator' }>,
): EventSearchTree {
  if (tree.subject !== undefined) throw subjectAndOperators(position);
  if (name === 'to') return { ...tree, to: [...tree.to, toTerm(value)] };
  if (tree[name] !== undefined) throw duplicate(`${name}:`, position);
  switch (name) {
    case 'since':
    case 'until':
      return { ...tree, [name]: searchDate(name, value, valuePosition) };
    case 'type':
      return { ...tree, type: activityType(value, valuePosition) };
    case 'template':
    case 'sequence':
      return { ...tree, [name]: namedTerm(value) };
    case 'from':
      return { ...tree, from: fromTerm(value) };
  }
}

function hasOperators(tree: EventSearchTree): boolean {
  return OPERATORS.some((name) => (name === 'to' ? tree.to.length > 0 : tree[name] !== undefined));
}

function searchDate(operator: string, text: string, position: number): string {
  if (isCalendarDate(text)) return text;
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

/** A piece of a search text. Positions are indexes into the text, in UTF-16 code units. */
type Token =
  | { readonly kind: 'word'; readonly value: string; readonly position: number }
  | { readonly kind: 'quoted'; readonly value: string; readonly position: number }
  | {
      readonly kind: 'operator';
      readonly name: OperatorName;
      readonly value: string;
      readonly position: number;
      readonly valuePosition: number;
    };

// Control characters, and halves of surrogate pairs, which would be sent as another character.
const forbidden = /[\p{Cc}\p{Cs}]/u;

const operator = /(to|since|until|type|template|sequence|from):/y;
const bare = /[^\s"]*/y;
const space = /\s*/y;

function match(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

function endOf(pattern: RegExp, text: string, position: number): number {
  return position + (match(pattern, text, position)?.[0].length ?? 0);
}

function checkCharacters(value: string, position: number): void {
  const at = value.search(forbidden);
  if (at < 0) return;
  throw new SearchSyntaxError(
    'invalid-character',
    'a search cannot contain a control character',
    position + at,
  );
}

/** Whether a word would be read as an operator. */
export function startsOperator(word: string): boolean {
  return match(operator, word, 0) !== null;
}

function readQuoted(text: string, position: number): { value: string; end: number } {
  const closing = text.indexOf('"', position + 1);
  if (closing < 0) {
    throw new SearchSyntaxError('unclosed-quote', 'a double quote is not closed', position);
  }
  const value = text.slice(position + 1, closing);
  checkCharacters(value, position + 1);
  if (value.trim() === '') {
    throw new SearchSyntaxError('empty', 'the quotes are empty', position);
  }
  const end = closing + 1;
  if (end < text.length && endOf(space, text, end) === end) {
    throw new SearchSyntaxError('misplaced-quote', 'a space must follow a closing quote', end);
  }
  return { value, end };
}

function readBare(text: string, position: number): { value: string; end: number } {
  const end = endOf(bare, text, position);
  if (text[end] === '"') {
    throw new SearchSyntaxError('misplaced-quote', 'a word cannot contain a double quote', end);
  }
  const value = text.slice(position, end);
  checkCharacters(value, position);
  return { value, end };
}

/**
 * Splits a search text into words, quoted values and operators.
 *
 * @throws {SearchSyntaxError} with the position of what is invalid
 */
function* scan(text: string): Generator<Token, void> {
  let position = endOf(space, text, 0);
  while (position < text.length) {
    const name = match(operator, text, position)?.[1] as OperatorName | undefined;
    const valuePosition = name === undefined ? position : position + name.length + 1;
    const quoted = text[valuePosition] === '"';
    const { value, end } = (quoted ? readQuoted : readBare)(text, valuePosition);
    if (name === undefined) yield { kind: quoted ? 'quoted' : 'word', value, position };
    else if (value === '')
      throw new SearchSyntaxError('empty', `${name}: needs a value`, valuePosition);
    else yield { kind: 'operator', name, value, position, valuePosition };
    position = endOf(space, text, end);
  }
}
