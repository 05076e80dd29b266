/**
 * Takes personal data and secrets out of a text for a log line. Errors of handlers and of clients
 * often quote what they choked on: the number that was called, or a URL with a password.
 */
export function scrub(text: string, payload?: unknown): string {
  let clean = text;
  for (const pattern of PATTERNS) clean = clean.replace(pattern, '[redacted]');
  const values = payload === undefined ? [] : personalTexts(payload);
  if (values === undefined)
    return '[withheld: the body has too many values to take them out of this text]';
  for (const value of values) clean = replaceWord(clean, value);
  return clean;
}

/** `name: message`, without anything personal. Never throws, whatever was thrown at us. */
export function describeError(error: unknown, payload?: unknown): string {
  try {
    if (error instanceof Error) return scrub(`${error.name}: ${error.message}`, payload);
    return typeof error === 'string' ? scrub(error, payload) : `a thrown ${typeof error}`;
  } catch {
    return 'an error that can not be read';
  }
}

/** The frames of the stack, which say where; the message above them is left out. */
export function stackFrames(error: unknown): string {
  try {
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    return stack
      .split('\n')
      .filter((line) => /^\s+at /.test(line))
      .slice(0, 10)
      .join('\n');
  } catch {
    return '';
  }
}

const PATTERNS = [
  /whsec_[A-Za-z0-9+/=]+/g,
  /(?<=:\/\/)[^\s/@]+@/g, // user:password@ of a URL
  // Starts at the beginning of a run only: tried at each letter of a long one, it would be quadratic.
  /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[^\s@"'<>(),:;]+/g,
  /\+?\(?\d[\d\s().-]{5,}\d/g,
];
const MAX_VALUES = 500;
/** These tell events apart, and no people. */
const PLAIN_FIELDS = new Set(['eventName', 'eventId', 'callId']);

/** Every text in the payload, and the words of short ones: a message may hold a first name only. */
function personalTexts(payload: unknown): string[] | undefined {
  const found = new Set<string>();
  const visit = (value: unknown, field: string): void => {
    if (found.size > MAX_VALUES || PLAIN_FIELDS.has(field)) return;
    if (typeof value === 'number') found.add(String(value));
    if (typeof value === 'string') {
      found.add(value);
      const words = value.split(/\s+/);
      if (words.length <= 5) for (const word of words) found.add(word);
    }
    if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) visit(inner, name);
  };
  visit(payload, '');
  if (found.size > MAX_VALUES) return undefined;
  return [...found].filter((text) => text.length > 1).sort((a, b) => b.length - a.length);
}

function replaceWord(text: string, value: string): string {
  const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return text.replace(
    new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, 'giu'),
    '[redacted]',
  );
}
