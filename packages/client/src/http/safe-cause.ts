import type { Redactor } from './redact.ts';

const deepest = 4;

/**
 * A copy of an error that is safe to keep as a cause: name, message and code of it and of its
 * causes, redacted. The original may carry the request with its headers (some `fetch`
 * replacements do), or quote them, so it is not kept.
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
  const nested = cause !== undefined && depth < deepest;
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
