const hidden = '[hidden]';
const deepestValue = 100;
const deepestCause = 4;

/** Removes sensitive texts from a string, or from all strings of a JSON value. */
export interface Redactor {
  text(value: string): string;
  /** Values nested more than 100 levels deep are removed as a whole. */
  json(value: unknown): unknown;
}

/** Creates a redactor for texts such as the token, a secret or a query. Empty texts are skipped. */
export function createRedactor(sensitive: readonly string[]): Redactor {
  const forms = new Set<string>();
  for (const value of sensitive) {
    if (value === '') continue;
    forms.add(value).add(encodeURIComponent(value)).add(JSON.stringify(value).slice(1, -1));
  }
  // Longest first, so that a short form does not leave the rest of a longer one behind.
  const ordered = [...forms].sort((a, b) => b.length - a.length);
  const text = (value: string): string =>
    ordered.reduce((result, form) => result.replaceAll(form, hidden), value);
  const json = (value: unknown, depth = 0): unknown => {
    if (typeof value === 'string') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    // Unlimited recursion would overflow the stack.
    if (depth === deepestValue) return hidden;
    const clean = (item: unknown): unknown => json(item, depth + 1);
    if (Array.isArray(value)) return value.map(clean);
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [text(key), clean(item)]));
  };
  return { text, json: (value) => json(value) };
}

/**
 * Copies an error so that it is safe to keep as a cause: name, message and code of the error and of
 * its causes, redacted. The original is dropped, because some `fetch` replacements attach the
 * request with its headers, or quote them.
 */
export function safeCause(error: unknown, redactor: Redactor, depth = 0): Error {
  if (typeof error !== 'object' || error === null) {
    return new Error(redactor.text(String(error)));
  }
  const read = (key: string): unknown => Reflect.get(error, key);
  const words = (key: string): string | undefined => {
    const value = read(key);
    return typeof value === 'string' ? redactor.text(value) : undefined;
  };
  const causes = [
    read('cause'),
    ...(Array.isArray(read('errors')) ? (read('errors') as unknown[]) : []),
  ];
  const cause = causes.find((value) => value !== undefined && value !== null);
  const nested = cause !== undefined && depth < deepestCause;
  const copy = new Error(
    words('message') ?? 'unknown error',
    nested ? { cause: safeCause(cause, redactor, depth + 1) } : undefined,
  );
  const name = words('name') ?? 'Error';
  Object.defineProperty(copy, 'name', { value: name, configurable: true, writable: true });
  copy.stack = `${name}: ${copy.message}`;
  const code = words('code');
  return code === undefined ? copy : Object.assign(copy, { code });
}
