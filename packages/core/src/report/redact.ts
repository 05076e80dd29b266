import type { DeliveryContent } from '../errors.ts';
import { looksLikeEventName } from './event-name.ts';
import { discard } from './hooks.ts';
import { looksLikeId, oneLine, printable } from './visible.ts';
import { deliveredBody, GAP, MAX_TEXT, NO_VALUES, OVERLAP, valuesOf } from './delivered.ts';
import type { Values } from './delivered.ts';

/**
 * What is removed from error texts before they are logged.
 *
 * - `'standard'`: values that occur in the delivery and, recognized by their form, secrets, email
 *   addresses and phone numbers
 * - `'off'`: nothing
 * - a function that gets each text, and the event if it is known, and returns the text to log; if it
 *   throws, the text is withheld
 */
export type Redact = 'standard' | 'off' | ((text: string, event: unknown) => string);

/** Makes a text suitable for a log line: redacted, and on one line. */
export type Redactor = (text: string) => string;

const NAME = String.raw`(?:passw(?:or)?d|passphrase|pwd|secret|token|api[-_ ]?key|credential|signature|cookie)\\?["']?\s{0,3}[=:]\s{0,3}\\?`;
const PHONE = String.raw`(?:phone|mobile|\btel|msisdn|\bfax|\bsms|whatsapp|\bdial(?:l?ed|l?ing)?)(?:[ _-]?number)?`;
const QUOTE = String.raw`\\?["']?\s{0,2}[:=.]?\s{0,2}\\?["'(<]?`;
const DATE_OR_HOST = String.raw`\d{4}-\d\d-\d\d|\d{1,3}(?:\.\d{1,3}){3}(?!\d)|1[4-9]\d{11}(?!\d)`;
const LOCAL = String.raw`[\p{L}\p{N}\p{M}._%+-]`;

/**
 * Recognizes secrets, email addresses and phone numbers by their form, or by the word in front of them.
 *
 * Each pattern starts at a place that it cannot find again within its own match, or has a bounded
 * length: one that starts again at each letter of a long run would take quadratic time.
 */
const PATTERNS: readonly RegExp[] = [
  // Stripe, OpenAI, GitHub, GitLab, npm, Slack, AWS, Google, SendGrid
  /whsec_[\w+/=-]+|(?<![A-Za-z\d])(?:[rs]k_(?:live|test)_[\w*]{4,}|sk-[\w-]{16,}|(?:gh[opsur]_|github_pat_|glpat-|npm_|xox[a-z]-)[\w-]{8,}|A(?:KIA|SIA)[A-Z0-9]{16}|AIza[\w-]{30,}|SG\.[\w-]{10,}\.[\w-]{10,})/g,
  /(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, // JSON Web Tokens
  /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]*(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
  // What follows `password=` or `"apiToken":`. In quotes, it may have spaces.
  new RegExp(String.raw`(?<=${NAME}(["']))(?:\\.|(?!\1)[^\\\r\n]){1,500}(?=\1)`, 'gi'),
  new RegExp(String.raw`(?<=${NAME}["']?)(?:v1,)?(?:[^\s"'&,;\\]|\\(?!["']))+`, 'gi'),
  /(?<=\bauthorization["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"',;]+(?:\s[^\s"',;]+)?/gi,
  // A word in small letters is no token: `Basic authentication`, `Bearer realm="api"`.
  /(?<=\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s{1,3})(?![a-z]+(?:[^\w/+-]|$))[^\s"',;]+/g,
  // The credentials of a URL: on the web in front of the path, elsewhere up to the last @.
  /(?<=\b(?:https?|wss?):\/\/)[^\s"'<>/?#]{1,1000}(?=@)/gi,
  /(?<=\b(?!(?:https?|wss?):)[a-z][a-z\d+.-]{0,20}:\/\/)[^\s"'<>/][^\s"'<>]{0,1000}(?=@)/gi,
  // An email address. The part in front of the host of a URL is not one.
  new RegExp(
    String.raw`(?<!${LOCAL}['’]?|:\/\/[^\s/?#]{0,100})${LOCAL}+(?:['’]${LOCAL}+)*@(?:[\p{L}\p{N}\p{M}-]+\.)+\p{L}{2,}`,
    'gu',
  ),
  // A phone number: +1 (555) 010-4477, `phone: 15550104477`, and a longer one after "number" or "call".
  new RegExp(String.raw`(?<![\w+])\+\d(?:${GAP}\d){6,14}(?!\d)`, 'g'),
  new RegExp(
    String.raw`(?=\d)(?<=${PHONE}${QUOTE})(?!${DATE_OR_HOST})\d(?:${GAP}\d){6,14}(?!\w)`,
    'gi',
  ),
  new RegExp(
    String.raw`(?=\d)(?<=\b(?:number|call(?:ed|ing)?)${QUOTE})(?!${DATE_OR_HOST})\d{10,15}(?!\w)`,
    'gi',
  ),
];

/** The spans of a text that have to be removed, in order. */
function spansOf(text: string, values: Values): [from: number, to: number][] {
  const { person } = values;
  const spans: [number, number][] = [...(values.pieces?.in(text) ?? [])];
  for (const pattern of person ? [...PATTERNS, person] : PATTERNS)
    for (const { 0: match, index } of text.matchAll(pattern))
      spans.push([index, index + match.length]);
  return spans.sort(([a], [b]) => a - b);
}

/** URLs contain `Ada%20Lovelace`, and JSON may have `Jos\u00e9`. */
const decoded = (text: string): string =>
  text
    .replace(/\\u([\da-f]{4})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    .replace(/(?:%[\da-f]{2})+/gi, (escapes) => {
      try {
        return decodeURIComponent(escapes);
      } catch {
        return escapes;
      }
    });

const REDACTED = '[redacted]';
/** @param content `undefined` if the text knows nothing of a delivery */
export function redactedText(text: string, content?: DeliveryContent): string {
  const whole = oneLine(text.slice(0, MAX_TEXT + OVERLAP));
  let shown = oneLine(decoded(whole));
  const values = content ? valuesOf(content) : NO_VALUES;
  let spans = spansOf(shown, values);
  // Something that only looks like an escape is kept, and may be a part of a value.
  if (spans.length === 0 && shown !== whole) spans = spansOf((shown = whole), values);
  let clean = '';
  let kept = 0; // where the text that is not copied yet begins
  for (const [from, to] of spans) {
    if (from >= MAX_TEXT) break;
    const between = shown.slice(kept, from);
    const isNext = clean.endsWith(REDACTED) && /^[\s,._'’+-]{0,2}$/.test(between);
    if (!isNext) clean += between + REDACTED;
    kept = Math.max(kept, to);
  }
  return clean + shown.slice(kept, MAX_TEXT) + lengthNote(text);
}

const lengthNote = ({ length: n }: string) => (n > MAX_TEXT ? `… (${String(n)} characters)` : '');
const shortened = (text: string) => oneLine(text.slice(0, MAX_TEXT)) + lengthNote(text);

const WITHHELD = '[withheld: it could not be redacted]';

/**
 * Creates a redactor for texts about one delivery. The errors of handlers and clients often quote their
 * input: the number that was called, or a URL with a password. Never throws.
 * @param content `undefined` if the texts know nothing of a delivery
 */
export function createRedactor(redact: Redact = 'standard', content?: DeliveryContent): Redactor {
  if (redact === 'off') return shortened;
  return (text) => {
    try {
      if (redact === 'standard') return redactedText(text, content);
      const clean: unknown = redact(text, content && deliveredBody(content));
      if (typeof clean === 'string') return oneLine(clean);
      discard(clean);
      return WITHHELD;
    } catch {
      return WITHHELD; // too many values, or the user's function failed
    }
  };
}

const MAX_ID = 200;
const ID_WORDS = /^[A-Za-z\d_]+(?:[:-][A-Za-z\d_]+)*$/;
/** The form of tokens, and the words before secrets and phone numbers. */
const SUSPICIOUS =
  /whsec|[rs]k[_-]|gh[opsur]_|github|glpat|npm_|xox|A(?:KIA|SIA|Iza)|pass|pwd|secret|token|api|credential|signature|cookie|authorization|phone|mobile|tel|msisdn|fax|sms|whatsapp|dial|number|call(?:ed|ing)?:?\d/i;

/** What a key of a tenant begins with. The name of a tenant may have spaces. */
const OF_TENANT = /^tenant:[^:]{0,500}:/;

/**
 * The name of a tenant or a secret, as log lines have it: on one line, of a limited length, and without
 * what may have become a part of it: an email address, a phone number or a token.
 */
export function redactName(name: string): string {
  // The redactor would not change such a name, but takes a hundred times as long.
  if (name.length <= MAX_ID && ID_WORDS.test(name) && !SUSPICIOUS.test(name)) return name;
  return redactedText(printable(name.slice(0, 4 * MAX_ID))).slice(0, MAX_ID);
}

/**
 * An id or key of a delivery, as log lines, hooks and spans have it: as `redactName` makes it, or nothing
 * of it if it does not look like an id.
 */
export const redactId = (id: string): string =>
  looksLikeId(id.replace(OF_TENANT, '')) ? redactName(id) : REDACTED;

/** The name of an event of a delivery: as `redactId` makes it, if it looks like one or is configured. */
export const redactEventName = (name: string): string =>
  looksLikeEventName(name) ? redactName(name) : REDACTED;

export type Ids = {
  [Name in 'tenant' | 'eventName' | 'callId' | 'key' | 'webhookId']?: string | undefined;
};

/**
 * A copy whose ids are as `redactId` makes them, and its event name as `redactEventName`. The tenant of
 * a verified delivery is kept; without a webhook id, any client may have sent the name.
 */
export function withRedactedIds<T extends Ids>(identified: T): T {
  const copy: Ids = { ...identified };
  const { eventName, tenant } = copy;
  for (const name of ['callId', 'key', 'webhookId'] as const) {
    const id = copy[name];
    if (id !== undefined) copy[name] = redactId(id);
  }
  if (eventName !== undefined) copy.eventName = redactEventName(eventName);
  if (tenant !== undefined && copy.webhookId === undefined) copy.tenant = redactName(tenant);
  return copy as T;
}
