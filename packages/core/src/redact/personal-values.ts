import { ORDINARY_WORDS } from './ordinary-words.ts';

/** What to look for in a text: what is personal in the content of a delivery. */
export interface PersonalValues {
  /** Folded words, such as the parts of a name. */
  readonly words: Set<string>;
  /** Words that count only as they are written here. */
  readonly exactWords: Set<string>;
  /** Two or more folded words in a row, by the first of them, and by all of them. */
  readonly phrases: Map<string, Map<string, string[]>>;
  /** Secrets, and words of scripts that put no space between words: they count everywhere. */
  readonly literals: Set<string>;
  /** The digits of phone numbers. */
  readonly numbers: Set<string>;
  /** Long texts. A text that quotes a part of one is redacted there. */
  readonly notes: Set<string>;
}

/** A word: letters, digits and marks. */
export const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const SPACELESS =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const EMAIL = /([^\s@"<>(),:;]{1,64})@[^\s@"<>(),:;]{1,255}/gu;
/** What has more cannot be searched for within a few milliseconds for each text of an error. */
const MAX_VALUES = 500;
const MAX_CHARACTERS = 16_000;
/** A text of more words is a note, and not a name. */
const MAX_NAME_WORDS = 8;
const MAX_NAME_LENGTH = 200;

/** Without case and accents: a URL may have `angeles` for `Ángeles`. */
export const fold = (text: string): string =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const set = (words: string) => new Set(words.split(/\s+/));
/** These fields identify events, not people. */
const PLAIN_FIELDS = set('eventName eventId callId');
/** A field whose name ends with one of these holds an id, a time, a state and the like. */
const TECHNICAL = set(
  `id ids uuid guid type status state kind direction outcome result code url urls uri href at date
  time timestamp duration seconds minutes timezone tz locale language currency version format event
  action method priority stage`,
);
const PERSONAL = set(
  `name firstname lastname fullname surname nickname username first last mail email phone mobile cell
  tel telephone fax msisdn number extension ext caller callee called dialed recipient contact customer
  client person user agent owner assignee guest patient attendee participant address street city zip
  postcode birth birthday note notes comment password passwd pwd secret token credential credentials
  apikey`,
);
const SECRET = set('password passwd pwd secret token credential credentials apikey');
const SHORT_NUMBER = set('extension ext zip postcode phone tel');

/** What the name of a field says of its values: they are personal, or an id, a time, a state and the like. */
export type FieldKind = 'personal' | 'technical' | 'unknown';

/** `recipientName` has the words `recipient` and `name`. */
const wordsOf = (field: string): string[] =>
  field
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);

function kindOf(words: string[], parent: FieldKind): FieldKind {
  if (TECHNICAL.has(words.at(-1) ?? '')) return 'technical';
  if (words.some((word) => PERSONAL.has(word))) return 'personal';
  return parent === 'personal' ? 'personal' : 'unknown';
}

/**
 * What the name of a field says of its values.
 * @param parent what the field is in says; a value in `contact` is personal
 */
export const fieldKind = (field: string, parent: FieldKind = 'unknown'): FieldKind =>
  kindOf(wordsOf(field), parent);

/**
 * Finds what is personal in the content of a delivery. Which fields that is, is told by their names,
 * and for other fields by the form of their values: what looks like an id, a time, a URL or a constant
 * is not.
 * @returns `undefined` if there are too many values, or they cannot be read
 */
export function personalValues(content: unknown): PersonalValues | undefined {
  const found: PersonalValues = {
    ...{ words: new Set(), exactWords: new Set(), phrases: new Map() },
    ...{ literals: new Set(), numbers: new Set(), notes: new Set() },
  };
  const visited = new Set<unknown>();
  let count = 0;
  let characters = 0;
  const isTooMuch = () => count > MAX_VALUES || characters > MAX_CHARACTERS;
  const visit = (value: unknown, field: string, parent: FieldKind): void => {
    if (typeof value === 'string') characters += value.length;
    count += 1;
    if (isTooMuch() || PLAIN_FIELDS.has(field)) return;
    const names = wordsOf(field);
    const kind = kindOf(names, parent);
    if (typeof value === 'string') addText(found, value, names, kind);
    if (typeof value === 'number' || typeof value === 'bigint')
      if (kind === 'personal') addNumber(found, String(value), names);
    if (typeof value !== 'object' || value === null || visited.has(value)) return;
    visited.add(value);
    if (value instanceof Map || value instanceof Set || Array.isArray(value)) {
      const isMap = value instanceof Map;
      for (const inner of isMap ? [...value].flat() : value) visit(inner, isMap ? '' : field, kind);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      characters += name.length;
      if (isTooMuch()) return;
      if (isNameOfPerson(name)) addText(found, name, [], 'personal');
      visit(inner, name, kind);
    }
  };
  try {
    visit(content, '', 'unknown');
  } catch {
    return undefined; // a getter of what a schema made
  }
  return isTooMuch() ? undefined : found;
}

/** A key may be the name of a person: `{ "Ada Lovelace": 3 }`. */
const isNameOfPerson = (key: string) =>
  /[\s@]|[^\0-\x7f]/.test(key) ||
  (/^[A-Z][a-z]+(?:_[A-Z][a-z]+)?$/.test(key) && !ORDINARY_WORDS.has(key.toLowerCase()));

function addText(found: PersonalValues, text: string, names: string[], kind: FieldKind): void {
  if (kind === 'technical' && text.length <= MAX_NAME_LENGTH) return;
  if (names.some((name) => SECRET.has(name)) && text.length > 3) found.literals.add(text);
  if (/^\+?[\d\s()./\u2010-\u2015-]+$/.test(text)) {
    addNumber(found, text, names);
    return;
  }
  if (isTechnical(text, kind)) return;
  const rest = text.replace(EMAIL, (_address, local: string) => {
    addWords(found, local, 'personal');
    return ' ';
  });
  addWords(found, rest, kind);
}

function addNumber(found: PersonalValues, text: string, names: string[]): void {
  const digits = text.replace(/\D/g, '');
  if (digits.length >= 7 && digits.length <= 15 && !isTechnical(text, 'personal'))
    found.numbers.add(digits);
  else if (digits.length > 2 && names.some((name) => SHORT_NUMBER.has(name)))
    found.words.add(digits);
}

/** Nothing but an id, a time or a URL. */
const ID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const TIME = /^\d{4}-\d\d-\d\d(?:[T ][\d:.,]+ ?(?:Z|UTC|GMT|CES?T|[ECMP][SD]T|[+-][\d:]+)?)?$/i;
const WEB_URL = /^https?:\/\/\S*$/i;

/** Ids, times and URLs; where the field's name says nothing, constants as well. */
const isTechnical = (text: string, kind: FieldKind): boolean =>
  [ID, TIME, WEB_URL].some((form) => form.test(text)) ||
  (kind !== 'personal' &&
    /^[a-z0-9]+(?:[/_.:+-]+[a-z0-9]+)*$|^[A-Z0-9_]+$|^(?=\D*\d)[\w.:/+=-]+$/.test(text));

function addWords(found: PersonalValues, text: string, kind: FieldKind): void {
  const words = text.match(WORD) ?? [];
  const isNote = words.length > MAX_NAME_WORDS || text.length > MAX_NAME_LENGTH;
  if (isNote) found.notes.add(text);
  for (const word of new Set(words)) {
    if (SPACELESS.test(word)) found.literals.add(word);
    else if (isIdentifying(word)) addWord(found, word, isNote, kind);
  }
  if (isNote || words.length < 2) return;
  const folded = words.map(fold);
  const first = folded[0] as string;
  if (folded.every((word) => ORDINARY_WORDS.has(word))) return;
  const phrases = found.phrases.get(first) ?? new Map<string, string[]>();
  found.phrases.set(first, phrases.set(folded.join(' '), folded));
}

function addWord(found: PersonalValues, word: string, isNote: boolean, kind: FieldKind): void {
  const folded = fold(word);
  const isLowerCase = word === word.toLowerCase() && word !== word.toUpperCase();
  if (ORDINARY_WORDS.has(folded)) {
    if (!isNote && !isLowerCase && kind === 'personal') found.exactWords.add(word);
  } else if (isNote) {
    if (!isLowerCase) found.exactWords.add(word).add(word.toUpperCase());
  } else if (!isLowerCase || kind === 'personal') found.words.add(folded);
}

/** A single letter identifies nobody, and digits alone are no word. */
const isIdentifying = (word: string) => word.length > 1 && /\p{L}/u.test(word);
