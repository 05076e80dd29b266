const MAX_VALUES = 500;
/** A longer text is no name, and its words are everybody's. */
const MAX_WORDS = 8;
const MAX_NAME_LENGTH = 200;
/** These tell events apart, and no people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);

/**
 * Every text in a payload, longest first, and the words of short ones: a message may hold a first
 * name only, or the name before the `@`.
 * @param longest texts above this length are left out
 * @returns `undefined` when there are too many
 */
export function personalTexts(payload: unknown, longest: number): string[] | undefined {
  const found = new Set<string>();
  const add = (text: string): void => {
    if (text.length > longest) return;
    found.add(text);
    if (text.length > MAX_NAME_LENGTH) return;
    const words = text.split(/[\s@,;()"<>]+/);
    if (words.length > MAX_WORDS) return;
    for (const word of words) found.add(word.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''));
  };
  const visit = (value: unknown, field: string): void => {
    if (found.size > MAX_VALUES || PLAIN_FIELDS.has(field)) return;
    if (typeof value === 'number' || typeof value === 'bigint') add(String(value));
    if (typeof value === 'string') add(value);
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Map || value instanceof Set) {
      for (const inner of value instanceof Map ? [...value].flat() : value) visit(inner, '');
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      if (!/^\w*$/.test(name)) add(name); // no field's name, but a person's: { "Ada Lovelace": 3 }
      visit(inner, name);
    }
  };
  visit(payload, '');
  if (found.size > MAX_VALUES) return undefined;
  return [...found].filter(isTelling).sort((a, b) => b.length - a.length);
}

/** One letter of an alphabet is nobody's name; one Han character is a family's. */
const isTelling = (text: string) => text.length > 1 || /\p{sc=Han}/u.test(text);
