import { WebhookError, type WebhookErrorCode } from './outcome/webhook-error.ts';

/** A longer text is withheld: it may quote a whole body, and searching it would take too long. */
const MAX_LENGTH = 4_000;

const PATTERNS = [
  /whsec_[A-Za-z0-9+/=_-]+/g,
  /(?<=:\/\/)[^\s"'<>]*@/g, // user:password@ in a URL
  // The value after a name such as password, apiToken, api_key, Authorization: Bearer
  /(?<=(?:passw(?:or)?d|pwd|secret|token|api[-_]?key)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"'&,;]+/gi,
  /(?<=\bbearer\s{1,3})[^\s"',;]+/gi,
  // Starts only at the beginning of a run: tried at each letter of a long one, it is quadratic.
  /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[^\s@"'<>(),:;]+/g,
  /\+?\(?\d[\d\s()./\u2010-\u2015-]{5,}\d/g,
];

/**
 * Removes personal data and secrets from a text for a log line. The errors of handlers and clients
 * often quote their input: the number that was called, or a URL with a password.
 * @param sensitiveData the content of the delivery: its texts are removed as well
 */
export function redact(text: string, sensitiveData?: unknown): string {
  if (text.length > MAX_LENGTH)
    return `[withheld: ${String(text.length)} characters are too many to redact]`;
  const values = sensitiveTexts(sensitiveData, Infinity);
  if (values === undefined) return '[withheld: the body has too many values to redact]';
  let clean = decodeEscapes(text);
  for (const pattern of PATTERNS) clean = clean.replace(pattern, '[redacted]');
  for (const value of values) if (value.length <= clean.length) clean = redactWord(clean, value);
  clean = redactParts(clean, values);
  return clean.replace(/\p{Cc}+/gu, ' '); // keep it on one line
}

/** `name: message` of an error, redacted. Never throws, whatever was thrown. */
export function describeError(error: unknown, sensitiveData?: unknown): string {
  try {
    if (error instanceof Error) return redact(`${error.name}: ${error.message}`, sensitiveData);
    return typeof error === 'string' ? redact(error, sensitiveData) : `a thrown ${typeof error}`;
  } catch {
    return 'an error that cannot be read';
  }
}

/** A foreign error as a `WebhookError`: its stack frames, and its message redacted. */
export function redactedError(
  code: WebhookErrorCode,
  prefix: string,
  error: unknown,
  sensitiveData?: unknown,
  eventName?: string,
): WebhookError {
  const message = prefix + describeError(error, sensitiveData);
  const redacted = new WebhookError(code, message, { eventName });
  redacted.stack = `${redacted.name}: ${redacted.message}\n${stackFrames(error)}`;
  return redacted;
}

/** The frames of an error's stack, without its message. */
export function stackFrames(error: unknown): string {
  try {
    if (!(error instanceof Error)) return '';
    const { stack = '', message } = error;
    // Only below the message, which may itself have lines that look like frames.
    const from = Math.max(0, stack.indexOf(message)) + message.length;
    return stack
      .slice(from, from + MAX_LENGTH * 4)
      .split('\n')
      .filter((line) => /^\s+at .*(?::\d+:\d+|<anonymous>|native)\)?$/.test(line))
      .slice(0, 10)
      .join('\n');
  } catch {
    return '';
  }
}

/** A URL in a message contains `Ada%20Lovelace` and `ada%40example.com`. */
const decodeEscapes = (text: string) =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });

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

/** So many characters in a row that also occur in one value are a part of it. */
const PART_LENGTH = 8;

/** Removes the parts of longer values: a message may contain just the first words of a note. */
function redactParts(text: string, values: readonly string[]): string {
  const lower = text.toLowerCase();
  // A rare letter gets longer in lower case. Then the positions would differ.
  const fold = (value: string) => (lower.length === text.length ? value.toLowerCase() : value);
  const searched = fold(text);
  const partAt = (of: string, at: number) => of.slice(at, at + PART_LENGTH);
  const parts = new Set<string>();
  for (let at = 0; at <= searched.length - PART_LENGTH; at++) parts.add(partAt(searched, at));
  const quoted = new Set<string>();
  for (const value of values.map(fold))
    for (let at = 0; at <= value.length - PART_LENGTH; at++)
      if (parts.has(partAt(value, at))) quoted.add(partAt(value, at));
  let clean = '';
  let kept = 0; // where the text that is not copied yet begins
  for (let at = 0; at <= searched.length - PART_LENGTH; at++) {
    if (!quoted.has(partAt(searched, at))) continue;
    let end = at + PART_LENGTH;
    while (quoted.has(partAt(searched, end - PART_LENGTH + 1))) end++;
    clean += `${text.slice(kept, at)}[redacted]`;
    kept = end;
    at = end - 1;
  }
  return clean + text.slice(kept);
}

const MAX_VALUES = 500;
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
 * @returns `undefined` when there are too many
 */
export function sensitiveTexts(payload: unknown, maxLength: number): string[] | undefined {
  const found = new Set<string>();
  const add = (text: string): void => {
    if (text.length > maxLength) return;
    found.add(text);
    found.add(JSON.stringify(text).slice(1, -1)); // as a message that quotes JSON has it
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
      // A key may be the name of a person: { "Lovelace": 3 }
      if (!Array.isArray(value) && !/^([a-z_]\w*)?$/.test(name)) add(name);
      visit(inner, name);
    }
  };
  visit(payload, '');
  if (found.size > MAX_VALUES) return undefined;
  return [...found].filter(isIdentifying).sort((a, b) => b.length - a.length);
}

/** A single Latin letter identifies nobody; a single Han character can be a family name. */
const isIdentifying = (text: string) => text.length > 1 || /\p{sc=Han}/u.test(text);
