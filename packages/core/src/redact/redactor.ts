import type { DeliveryContent } from '../outcome/origin.ts';
import { decodeEscapes, oneLine } from './escapes.ts';
import { redactValues } from './find-values.ts';
import { redactPatterns } from './patterns.ts';
import { personalValues, type PersonalValues } from './personal-values.ts';
import { redactStrictly, sensitiveTexts } from './strict.ts';

/**
 * What is removed from the texts of errors before they are logged.
 *
 * - `'standard'`: what is personal in the delivery, e-mail addresses, phone numbers, secrets, tokens and
 *   the credentials of URLs. Addresses of servers, dates, ids and ordinary words stay.
 * - `'strict'`: every text and number of the delivery, and all digits that could be a phone number.
 * - `'off'`: nothing.
 * - A function gets each text, and the event if it is known, and returns what is logged. If it throws,
 *   the text is withheld.
 */
export type Redact = 'standard' | 'strict' | 'off' | ((text: string, event: unknown) => string);

/** Makes a text fit for a log line: redacted, and on one line. */
export type Redactor = (text: string) => string;

/** A longer text is cut: it may quote a whole body, and searching it would take too long. */
const MAX_LENGTH = 4_000;

/**
 * Creates a redactor for texts about one delivery. The errors of handlers and clients often quote their
 * input: the number that was called, or a URL with a password. Never throws.
 * @param content `undefined` if the text knows nothing of a delivery
 */
export function createRedactor(redact: Redact = 'standard', content?: DeliveryContent): Redactor {
  if (typeof redact === 'function') return withFunction(redact, content?.body);
  if (redact === 'off') return (text) => oneLine(shortened(text));
  if (redact === 'strict') return strictRedactor(content);
  return standardRedactor(content);
}

function strictRedactor(content: DeliveryContent | undefined): Redactor {
  let values: string[] | undefined | 'unread' = 'unread';
  return (text) => {
    if (values === 'unread') values = sensitiveTexts(content, Infinity);
    return redactStrictly(text, values);
  };
}

function standardRedactor(content: DeliveryContent | undefined): Redactor {
  let values: PersonalValues | undefined | 'unread' = 'unread';
  return (text) => {
    if (values === 'unread') values = personalValues(content);
    if (values === undefined) return '[withheld: the content of the delivery cannot be searched]';
    const short = shortened(text);
    const decoded = decodeEscapes(short);
    const clean = redactValues(redactPatterns(decoded), values);
    return oneLine(clean === decoded ? short : clean);
  };
}

function withFunction(redact: (text: string, event: unknown) => string, event: unknown): Redactor {
  return (text) => {
    try {
      const clean: unknown = redact(text, event);
      if (typeof clean === 'string') return oneLine(clean);
    } catch {
      // The function is the user's, and this is documented.
    }
    return '[withheld: the redact function failed]';
  };
}

/** The last word goes as well: it may be the beginning of a name. */
function shortened(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  const kept = text.slice(0, MAX_LENGTH).replace(/[\p{L}\p{N}\p{M}]{1,100}$/u, '');
  return `${kept}… (${String(text.length)} characters)`;
}
