import { SearchSyntaxError } from '../errors/index.ts';
import type { OperatorName } from './tree.ts';
import { forbiddenAt } from './values.ts';

/** A piece of a search text. Positions are indexes into the text, in UTF-16 code units. */
export type Token =
  | { readonly kind: 'word'; readonly value: string; readonly position: number }
  | { readonly kind: 'quoted'; readonly value: string; readonly position: number }
  | {
      readonly kind: 'operator';
      readonly name: OperatorName;
      readonly value: string;
      readonly position: number;
      readonly valuePosition: number;
    };

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
  const at = forbiddenAt(value);
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
export function* scan(text: string): Generator<Token, void> {
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
