import { WebhookError } from '../errors.ts';

export const PREFIX = 'whsec_';
export const MIN_BYTES = 16;
const FIX = 'Copy the whole secret from where the webhook action was created or rotated.';
const ONLY = 'Leave only whsec_ and the base64 after it, and separate several by commas.';

// Not `\s`: a no-break space or a byte order mark is named instead, since nobody sees it.
const SEPARATORS = /[ \t\r\n\f\v,]+/;
const INVISIBLE = /[^\P{Z} ]|[^\P{C}\t\r\n\f\v]|\p{Default_Ignorable_Code_Point}/u;
const ESCAPE = /\\[nrt]/;
const QUOTE = /[\p{Pi}\p{Pf}"'`´‚„′″]/u;
// A base64 text may end in `=`, so a name has to begin outside of one.
const NAME =
  /(?<![\w+/=])(?!whsec_)[A-Za-z_][\w:.-]*["']?(?:[=:](?=[^=\s,])|\s*[=:][\s"'`]*whsec_)/;

/**
 * The secrets in a text, checked: base64 after `whsec_` (spec, "Authentication").
 * @param where ends "The signing secret …" in messages
 * @throws WebhookError `invalid-secret`. The message never contains a secret.
 */
export function secretTexts(text: unknown, where = ''): string[] {
  if (text === undefined) throw invalid(where, 'is undefined. Is the environment variable set?');
  if (typeof text !== 'string')
    throw invalid(where, `is not a string but ${text === null ? 'null' : typeof text}.`);
  const texts = splitSecrets(text);
  if (texts.length === 0) throw invalid(where, 'is empty. Is the environment variable set?');
  const around = whatIsAround(text);
  if (around !== undefined) throw invalid(where, `has ${around} around or in it.`, ONLY);
  for (const [index, one] of texts.entries()) {
    const problem = problemWith(one);
    if (problem === undefined) continue;
    const which = texts.length > 1 ? ` (number ${String(index + 1)} in its text)` : '';
    throw invalid(where + which, problem);
  }
  return texts;
}

/** @param text one secret, or several that are separated by commas, white space or lines */
export const splitSecrets = (text: string): string[] =>
  text.split(SEPARATORS).filter((one) => one !== '');

/** What was copied together with a secret. */
function whatIsAround(text: string): string | undefined {
  const invisible = INVISIBLE.exec(text)?.[0].codePointAt(0);
  const escape = ESCAPE.exec(text)?.[0];
  const found = [
    invisible !== undefined && `an invisible character (${codeOf(invisible)})`,
    escape !== undefined && `the text ${escape} (a backslash and a letter, not a line break)`,
    NAME.test(text) && 'the name of a variable (NAME=)',
    QUOTE.test(text) && 'quotation marks',
  ].filter((what) => what !== false);
  return found.length > 0 ? found.join(' and ') : undefined;
}

const codeOf = (point: number) => `U+${point.toString(16).toUpperCase().padStart(4, '0')}`;

function problemWith(text: string): string | undefined {
  if (!text.startsWith(PREFIX)) return `does not start with ${PREFIX}.`;
  const base64 = text.slice(PREFIX.length);
  if (base64 === '') return `has nothing after ${PREFIX}.`;
  if (base64.includes(PREFIX))
    return 'is followed by another one. Separate them by a comma or white space.';
  if (/^[\w-]+={0,2}$/.test(base64) && /[-_]/.test(base64))
    return `is base64url after ${PREFIX}, not base64: it has - or _ in place of + or /.`;
  const strange = /[^A-Za-z0-9+/=]/u.exec(base64)?.[0];
  if (strange !== undefined)
    return `is not base64 after ${PREFIX}: it has the character "${strange}".`;
  const unpadded = base64.replace(/=+$/, '').length;
  const padding = base64.length - unpadded;
  const isWhole = padding <= 2 && unpadded % 4 !== 1 && (padding === 0 || base64.length % 4 === 0);
  if (!isWhole || base64.slice(0, unpadded).includes('='))
    return `is not base64 after ${PREFIX}. It looks truncated.`;
  const bytes = Math.floor((unpadded * 3) / 4);
  if (bytes >= MIN_BYTES) return undefined;
  return `is too short: it has ${String(bytes)} bytes and needs at least ${String(MIN_BYTES)}.`;
}

const invalid = (where: string, problem: string, fix = FIX) =>
  new WebhookError('invalid-secret', `The signing secret${where} ${problem} ${fix}`);
