/** Longer error texts are cut: their beginning tells the cause. */
const MAX_TEXT = 1_000;
const MAX_CAUSE = 200;

/** What only one of several errors may have, and what looks so and yet tells the cause. */
const OWN = new RegExp(
  [
    // The code of an error, and a status of HTTP: `[P2002]`, `responded 422`.
    String.raw`(?<kept>\[[A-Z\d_]{3,40}\]|(?<=\b(?:status|code|http|responded|returned|answered)(?: code)?[ :=]{1,2})[1-5]\d\d\b)`,
    String.raw`"[^"]{0,500}"|“[^”]{0,500}”|‘[^’]{0,500}’|\x60[^\x60]{0,500}\x60`,
    String.raw`(?<!\w)'[^']{0,500}'(?!\w)`,
    String.raw`(?<=\bhttps?:\/\/[^\s?#]{1,200})[?#][^\s"')\],;]*`, // the query of a URL
    // A word with a digit: an id, a number, a time, an address.
    String.raw`(?<![\w-])[\w-]*?\d[\w-]*(?:[:.,+][\w-]*?\d[\w-]*)*`,
  ].join('|'),
  'gi',
);

/**
 * What an error has in common with others of the same cause: its text without ids, numbers and quoted
 * texts. A status of HTTP and the code of an error stay.
 * @param error a redacted text, as the `error` of a listed dead letter
 * @example
 * causeOf('The CRM responded 422: no contact "c-17"'); // 'The CRM responded 422: no contact …'
 */
export function causeOf(error: string): string {
  const text = error.slice(0, MAX_TEXT).replace(OWN, (_found, kept?: string) => kept ?? '…');
  // A list of ids is one cause, however long it is.
  const cause = text.replace(/…(?:[\s,;/]{0,3}…)+/g, '…').trim();
  return cause.length > MAX_CAUSE ? `${cause.slice(0, MAX_CAUSE - 1)}…` : cause;
}
