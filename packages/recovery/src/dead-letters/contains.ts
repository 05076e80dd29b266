/** Shorter numbers would be found in too many places, such as times and sizes. */
const MIN_DIGITS = 5;
/** So many last digits are one subscriber, however the rest is written: `+49 171 …`, `0171 …`. */
const MIN_SUFFIX = 9;
const MIN_LETTERS = 2;

/** A number as people and services write it: with spaces, brackets and dashes. */
const PHONE_TEXT = /^[+\d\s()./\u2010-\u2015-]+$/;
const PHONES_IN_TEXT = /\d(?:[\s()./\u2010-\u2015-]{0,3}\d){4,20}/g;
const LETTER = String.raw`[\p{L}\p{M}\p{N}]`;

/** Whether a text of a body is about the person that is searched for. */
type IsAbout = (text: string) => boolean;

/**
 * Finds the bodies that have the data of a person: a phone number, an email address or a name.
 *
 * A phone number has the same digits. From nine digits on, the country code may be missing, and the zero of
 * national calls may be there or not, wherever it stands: `+49 (0)171 …`, `0171 …`. An email address or a name is
 * found as whole words, whatever the case of its letters and wherever it stands in a text. A name is also found if its
 * two parts are two neighboring fields, or if they are in the other order with a comma. Quotes around the search do
 * not count. The names of fields are searched as well.
 * @param search what a person typed: `'+1 555 010-4477'`, `'ada@example.com'`, `'Ada Lovelace'`
 * @returns whether a body has it: parsed JSON, or the text of a body that is no JSON. `undefined` if the
 *   search has fewer than five digits and fewer than two letters, and so would find too much
 * @example
 * const isAboutAda = bodyMatcher('ada@example.com');
 * isAboutAda?.(JSON.parse('{"contact":{"email":"Ada@Example.com"}}')); // true
 */
export function bodyMatcher(search: string): ((body: unknown) => boolean) | undefined {
  const digits = digitsOf(search);
  if (PHONE_TEXT.test(search))
    return digits.length < MIN_DIGITS ? undefined : finder(isSamePhone(digits));
  const wanted = inNaturalOrder(normal(search).replace(QUOTED, '$2'));
  if ((wanted.match(/\p{L}/gu)?.length ?? 0) < MIN_LETTERS) return undefined;
  const [, first, last] = TWO_WORDS.exec(wanted) ?? [];
  const forms = first === undefined ? [wanted] : [wanted, `${last ?? ''}, ${first}`];
  const finders = forms.map(hasWords);
  return finder((text) => finders.some((has) => has(text)), wanted);
}

/** Whether a search is a phone number that is so short that only the same digits are found, and no longer number. */
export const isShortNumber = (search: string): boolean =>
  PHONE_TEXT.test(search) && digitsOf(search).length < MIN_SUFFIX;

const QUOTED = /^(["'\u201c\u201e\u00ab])(.+)["'\u201c\u201d\u00bb]$/u;
/** All but the last word, and the last one. */
const TWO_WORDS = /^([^@,]+) ([^@,\s]+)$/u;

/** `Lovelace, Ada` as `ada lovelace`. */
const inNaturalOrder = (name: string): string =>
  name.replace(/^([^@,\d]+), ?([^@,\d]+)$/u, '$2 $1');

/** Without leading zeros, which only say from where a number is called. */
const digitsOf = (text: string): string => text.replace(/\D/g, '').replace(/^0+/, '');

const normal = (text: string): string =>
  text.normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trim();

function isSamePhone(wanted: string): IsAbout {
  const isSame = (found: string) => {
    if (found === wanted) return true;
    let same = 0;
    while (same < found.length && found.at(-1 - same) === wanted.at(-1 - same)) same++;
    if (same < MIN_SUFFIX) return false;
    // What is left is the country code, maybe with the zero after it. One of the two may have none. Area codes
    // that differ in their first digit are left as well, and are not the same.
    const [one, other] = [found, wanted].map((text) => text.slice(0, -same).replace(/0+$/, ''));
    return one === other || one === '' || other === '';
  };
  return (text) =>
    isSame(digitsOf(text)) ||
    (text.match(PHONES_IN_TEXT) ?? []).some((found) => isSame(digitsOf(found)));
}

function hasWords(wanted: string): IsAbout {
  const isAddress = wanted.includes('@');
  // A part of an address is another address.
  const before = isAddress ? `(?<!${LETTER}|[.+_%-])` : `(?<!${LETTER})`;
  const after = isAddress ? `(?!${LETTER}|-|\\.${LETTER})` : `(?!${LETTER})`;
  const pattern = new RegExp(before + wanted.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') + after, 'u');
  return (text) => pattern.test(normal(text));
}

/** @param name whose two parts may be two fields */
function finder(isAbout: IsAbout, name?: string): (body: unknown) => boolean {
  return (body) => {
    const left: unknown[] = [body];
    while (left.length > 0) {
      const value = left.pop();
      if (typeof value === 'string' || typeof value === 'number') {
        if (isAbout(String(value))) return true;
      } else if (typeof value === 'object' && value !== null) {
        const values = Object.values(value) as unknown[];
        if (name !== undefined && areParts(values, name)) return true;
        if (!Array.isArray(value) && Object.keys(value).some(isAbout)) return true;
        left.push(...values);
      }
    }
    return false;
  };
}

const areParts = (values: readonly unknown[], name: string): boolean =>
  values.some((value, at) => {
    const next = values[at + 1];
    if (typeof value !== 'string' || typeof next !== 'string') return false;
    const [one, other] = [normal(value), normal(next)];
    return `${one} ${other}` === name || `${other} ${one}` === name;
  });

/** The content of a raw body: parsed, or its text if it is no JSON. */
export function contentOf(rawBody: Uint8Array): unknown {
  const text = new TextDecoder().decode(rawBody);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
