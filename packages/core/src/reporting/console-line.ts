import { oneLine } from '../redact/escapes.ts';

/**
 * A line for `console`: the message and the fields behind it, with the frames of `err` below.
 * @example
 * consoleLine({ callId: 'c1', rows: 3 }, 'saved') // 'saved callId=c1 rows=3'
 */
export function consoleLine(fields: object, message: string): string {
  const { err, docs, ...rest } = fields as Record<string, unknown>;
  const said = `${String(rest['status'])} ${String(rest['outcome'])}`;
  const pairs = Object.entries(rest)
    .filter(([name]) => !(message.includes(said) && (name === 'status' || name === 'outcome')))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${shown(value)}`);
  const parts = [
    err === undefined ? message : withError(message, err),
    ...pairs,
    ...(typeof docs === 'string' ? [`See ${docs}`] : []),
  ];
  return parts.filter((part) => part !== '').join(' ') + framesOf(err);
}

/** Our own messages have the text of the error already. Those of a handler may not. */
function withError(message: string, err: unknown): string {
  const text = err instanceof Error ? err.message : shown(err);
  if (message.includes(text)) return message;
  const whole = err instanceof Error ? `${err.name}: ${text}` : text;
  return message === '' ? whole : `${message}: ${whole}`;
}

const MAX_CAUSES = 5;

/** The frames of an error and of its causes. */
function framesOf(err: unknown): string {
  let text = '';
  let error = err;
  for (let depth = 0; error instanceof Error && depth <= MAX_CAUSES; depth++) {
    if (depth > 0) text += `\n  caused by ${oneLine(`${error.name}: ${error.message}`)}`;
    const { stack = '' } = error;
    const start = stack.search(/\n\s+at /);
    if (start !== -1) text += stack.slice(start);
    error = error.cause;
  }
  return text;
}

/** On one line, without terminal codes. */
function shown(value: unknown): string {
  if (typeof value === 'string') return /^[\x21-\x7e]+$/.test(value) ? value : quoted(value);
  if (value instanceof Error) return quoted(`${value.name}: ${value.message}`);
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    return quoted(value);
  } catch {
    return '[object]'; // cyclic, or with a bigint
  }
}

const quoted = (value: unknown) =>
  ((JSON.stringify(value) as string | undefined) ?? '').replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
