// The one place that decides which characters are visible, for texts, ids, tenant names and field
// names.

/** Control characters and line breaks. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/**
 * Characters that are invisible or change the order of others: soft hyphens, joiners, fillers,
 * direction marks.
 */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;
const HALF_A_PAIR = /\p{Cs}/gu;
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// The same for the usual texts, whose search is quicker.
const BEYOND_ASCII = /[^\0-\x7f]/;
const ASCII_BREAKS = /[^ -~]+/g;
const PLAIN = /^[\x20-\x7e]*$/;

/** Whether a text has nothing but visible ASCII characters and spaces. */
export const isPlain = (text: string): boolean => PLAIN.test(text);

/**
 * Without line breaks, terminal codes and invisible characters, so that no text can forge a log line,
 * read in another order than it is written, or hide a value from those who search for it.
 */
export function oneLine(text: string): string {
  if (isPlain(text)) return text;
  if (!BEYOND_ASCII.test(text)) return text.replace(ASCII_BREAKS, ' ');
  return text.replace(BREAKS, ' ').replace(INVISIBLE, '').replace(HALF_A_PAIR, '\ufffd');
}

/** Whether every character of a text can be seen. */
export const isPrintable = (text: string): boolean => text.search(UNPRINTABLE) === -1;

/** With a question mark for each character that cannot be seen. */
export const printable = (text: string): string => text.replace(UNPRINTABLE, '?');

/** With an escape for each character that cannot be seen. */
export const escaped = (text: string): string =>
  text.replace(UNPRINTABLE, (sign) => {
    const code = (sign.codePointAt(0) as number).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`;
  });

/** A text with spaces or letters of other scripts may be a name, whatever field it was sent in. */
const ID = /^[!-~]*$/;

/** Whether a text that was sent as an id looks like one. */
export const looksLikeId = (id: string): boolean => ID.test(id);

/** A key of another form may be a name: `{ "Ada Lovelace": 3 }`. */
const FIELD_NAME = /^[a-z_]\w{0,63}$/;

/** Whether a key of a body looks like the name of a field, and not like a name of a person. */
export const looksLikeField = (key: string): boolean => FIELD_NAME.test(key);
