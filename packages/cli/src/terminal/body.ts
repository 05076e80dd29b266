import { isUtf8 } from 'node:buffer';
import { lines, t, type Text } from './text.ts';

/** A body as people read it: JSON in lines, other text as it is, and of bytes their number. */
export function bodyLines(body: string | Uint8Array, limit = 60): Text[] {
  if (typeof body !== 'string') {
    if (!isUtf8(body)) return [t`(${body.length} bytes that are no UTF-8)`];
    return bodyLines(Buffer.from(body).toString('utf8'), limit);
  }
  if (body === '') return [];
  return lines(pretty(body), limit);
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
