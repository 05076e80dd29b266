import { decodeEscapes, oneLine } from './escapes.ts';
import { redactPatterns } from './patterns.ts';
import { redactQuotes } from './quotes.ts';

/** A longer text is withheld: it may quote a whole body, and searching it would take too long. */
const MAX_LENGTH = 4_000;

/** Wider than those that show what they are. */
const PATTERNS = [
  // Starts only at the beginning of a run: tried at each letter of a long one, it is quadratic.
  /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[^\s@"'<>(),:;]+/g,
  /\+?\(?\d[\d\s()./\u2010-\u2015-]{5,}\d/g, // digits that may be a phone number
];

/** So many characters in a row that also occur in one value are a part of it. */
const PART_LENGTH = 8;

/**
 * Removes every text of a delivery, all digits that could be a phone number, secrets and e-mail
 * addresses. Dates, ids and ordinary words may go with them.
 * @param values the texts of the delivery; `undefined` if it cannot be searched
 */
export function redactStrictly(text: string, values: readonly string[] | undefined): string {
  if (text.length > MAX_LENGTH)
    return `[withheld: ${String(text.length)} characters are too many to redact]`;
  if (values === undefined) return '[withheld: the content of the delivery cannot be searched]';
  let clean = redactPatterns(decodeEscapes(text));
  for (const pattern of PATTERNS) clean = clean.replace(pattern, '[redacted]');
  for (const value of values) if (value.length <= clean.length) clean = redactWord(clean, value);
  clean = redactQuotes(clean, values, PART_LENGTH);
  return oneLine(clean);
}

/** Also after an escape of JSON: in `"Ada\nLovelace"`, the `n` is not a part of the name. */
const WORD_START = '(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[bfnrt]|\\\\u[0-9a-f]{4}))';

function redactWord(text: string, value: string): string {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // A word ends where its letters end, except in scripts that are written without spaces.
  const spaceless =
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
  const pattern = spaceless.test(value) ? literal : `${WORD_START}${literal}(?![\\p{L}\\p{N}])`;
  return text.replace(new RegExp(pattern, 'giu'), '[redacted]');
}

const MAX_VALUES = 500;
const MAX_VISITS = 2_000;
/** What has more cannot be searched for in every text of an error without blocking the process. */
const MAX_CHARACTERS = 16_000;
/** A text of more words is not a name, and its words are common ones. */
const MAX_WORDS = 8;
const MAX_NAME_LENGTH = 200;
/** These fields identify events, not people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);

/**
 * Every text in a payload, longest first, also escaped as in JSON, and the words of short texts: a
 * message may contain just a first name, or the part of an address before the `@`. Keys count as well,
 * apart from those that look like field names: letters, digits and `_`, the first letter in lower case.
 * @param maxLength longer texts are left out
 * @param maxCharacters of all texts together
 * @returns `undefined` if there are too many, or they cannot be read
 */
export function sensitiveTexts(
  payload: unknown,
  maxLength: number,
  maxCharacters = MAX_CHARACTERS,
): string[] | undefined {
  const found = new Set<string>();
  const visited = new Set<unknown>();
  let visits = 0;
  let characters = 0;
  const isTooMuch = () =>
    found.size > MAX_VALUES || visits > MAX_VISITS || characters > maxCharacters;
  const add = (text: string): void => {
    if (text.length > maxLength) return;
    characters += text.length;
    if (isTooMuch()) return;
    found.add(text);
    found.add(JSON.stringify(text).slice(1, -1)); // as a message that quotes JSON has it
    if (text.length > MAX_NAME_LENGTH) return;
    const words = text.split(/[\s@,;()"<>]+/);
    if (words.length > MAX_WORDS) return;
    for (const word of words) found.add(word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
  };
  const visit = (value: unknown): void => {
    visits += 1;
    if (isTooMuch()) return;
    if (typeof value === 'number' || typeof value === 'bigint') add(String(value));
    if (typeof value === 'string') add(value);
    if (typeof value !== 'object' || value === null || visited.has(value)) return;
    visited.add(value);
    if (value instanceof Map || value instanceof Set) {
      for (const inner of value instanceof Map ? [...value].flat() : value) visit(inner);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (isTooMuch()) return;
      if (PLAIN_FIELDS.has(name)) continue;
      // A key may be the name of a person: { "Lovelace": 3 }
      if (!Array.isArray(value) && !/^([a-z_]\w*)?$/.test(name)) add(name);
      visit(inner);
    }
  };
  try {
    visit(payload);
  } catch {
    return undefined; // a getter of what a schema made, or nested too deeply
  }
  if (isTooMuch()) return undefined;
  return [...found].filter(isIdentifying).sort((a, b) => b.length - a.length);
}

/** A single Latin letter identifies nobody; a single Han character can be a family name. */
const isIdentifying = (text: string) => text.length > 1 || /\p{sc=Han}/u.test(text);
