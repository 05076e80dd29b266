import { personalTexts } from './personal-texts.ts';

/** A longer text is withheld: it quotes a whole body, and searching it would take too long. */
const MAX_LENGTH = 4_000;

const PATTERNS = [
  /whsec_[A-Za-z0-9+/=_-]+/g,
  /(?<=:\/\/)[^\s"'<>]*@/g, // user:password@ of a URL
  // The value after a name such as password, apiToken, api_key, Authorization: Bearer
  /(?<=(?:passw(?:or)?d|pwd|secret|token|api[-_]?key)["']?\s{0,3}[=:]\s{0,3}["']?)[^\s"'&,;]+/gi,
  /(?<=\bbearer\s{1,3})[^\s"',;]+/gi,
  // Starts at the beginning of a run only: tried at each letter of a long one, it would be quadratic.
  /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[^\s@"'<>(),:;]+/g,
  /\+?\(?\d[\d\s()./\u2010-\u2015-]{5,}\d/g,
];

/**
 * Takes personal data and secrets out of a text for a log line. Errors of handlers and of clients
 * often quote what they choked on: the number that was called, or a URL with a password.
 * @param personal what the delivery held: its texts are taken out as well
 */
export function scrub(text: string, personal?: unknown): string {
  if (text.length > MAX_LENGTH)
    return `[withheld: ${String(text.length)} characters, too many to take personal data out of]`;
  const values = personalTexts(personal, MAX_LENGTH);
  if (values === undefined)
    return '[withheld: the body has too many values to take them out of this text]';
  let clean = decoded(text);
  for (const pattern of PATTERNS) clean = clean.replace(pattern, '[redacted]');
  for (const value of values) clean = replaceWord(clean, value);
  return clean.replace(/\p{Cc}+/gu, ' '); // one text, one line
}

/** `name: message`, without anything personal. Never throws, whatever was thrown at us. */
export function describeError(error: unknown, personal?: unknown): string {
  try {
    if (error instanceof Error) return scrub(`${error.name}: ${error.message}`, personal);
    return typeof error === 'string' ? scrub(error, personal) : `a thrown ${typeof error}`;
  } catch {
    return 'an error that can not be read';
  }
}

/** The frames of the stack, which say where; the message above them is left out. */
export function stackFrames(error: unknown): string {
  try {
    if (!(error instanceof Error)) return '';
    const { stack = '', message } = error;
    // Below the message only: it may have lines that look like frames.
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

/** A URL in a message says `Ada%20Lovelace`, and `ada%40example.com`. */
const decoded = (text: string) =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) => {
    try {
      return decodeURIComponent(escaped);
    } catch {
      return escaped;
    }
  });

function replaceWord(text: string, value: string): string {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // Words end where letters do, except in scripts that write no spaces.
  const spaceless =
    /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
  const pattern = spaceless.test(value)
    ? literal
    : `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`;
  return text.replace(new RegExp(pattern, 'giu'), '[redacted]');
}
