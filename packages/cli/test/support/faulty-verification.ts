import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Whether a receiver has one of these faults. */
export type Has = (...faults: string[]) => boolean;

/** The status for a request that is not authentic; `undefined` if it is. By the interface and `node:crypto`. */
export function refusalOf(
  request: IncomingMessage,
  body: Buffer,
  secrets: readonly string[],
  has: Has,
): number | undefined {
  if (has('authentic')) return 401;
  const names = spelled(request, has);
  const [id, time, signature] = ['webhook-id', 'timestamp', 'signature'].map(
    (name) => names[`x-service-${name}`],
  );
  if (id === undefined && time === undefined && signature === undefined)
    return has('unsigned') ? undefined : 401;
  if (signature === undefined) return has('no-signature') ? undefined : 401;
  if (id === undefined && !has('no-webhook-id')) return 401;
  if (time === undefined && !has('no-timestamp')) return 401;
  if (timeIsWrong(time ?? '', has)) return 401;
  if (!signature.startsWith('v1,') && !has('no-version', 'other-version')) return 401;
  const given = signature.replace(/^v\d,/, '');
  const accepted = keysOf(secrets, has).some((key) => {
    const hmac = createHmac('sha256', key).update(`${id ?? ''}.${time ?? ''}.`);
    return isEqual(hmac.update(signedBytes(body, has)).digest('base64'), given, has);
  });
  return accepted || has('forged') ? undefined : 401;
}

/** The headers, or only those that are spelled as the receiver expects. */
function spelled({ headers, rawHeaders }: IncomingMessage, has: Has): Record<string, string> {
  if (!has('lower-case-headers', 'upper-case-headers')) return headers as Record<string, string>;
  const known = has('lower-case-headers') ? /^X/ : /[a-z]/;
  const pairs = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && known.test(name)
      ? [[name.toLowerCase(), rawHeaders[at + 1] ?? ''] as const]
      : [],
  );
  return Object.fromEntries(pairs);
}

function timeIsWrong(time: string, has: Has): boolean {
  const number = has('timestamp-trailing-text') ? Number.parseInt(time, 10) : Number(time);
  if (Number.isNaN(number) || time === '') return !has('timestamp-text', 'no-timestamp');
  let seconds = number;
  if (has('timestamp-milliseconds') && number > 1e12) seconds = number / 1_000;
  if (has('timestamp-negative')) seconds = Math.abs(number);
  let window = 300;
  if (has('wide-window')) window = 600;
  if (has('narrow-window')) window = 60;
  const age = Date.now() / 1_000 - seconds;
  return (age > window && !has('stale')) || (-age > window && !has('future'));
}

const keysOf = (secrets: readonly string[], has: Has): Buffer[] =>
  secrets
    .slice(0, has('second-secret') ? 1 : undefined)
    .flatMap((secret) => [
      Buffer.from(secret.slice(6), 'base64'),
      ...(has('key-as-text') ? [Buffer.from(secret)] : []),
      ...(has('empty-key') ? [Buffer.alloc(0)] : []),
    ]);

function signedBytes(body: Buffer, has: Has): Buffer {
  if (has('reformatted-body'))
    try {
      return Buffer.from(JSON.stringify(JSON.parse(body.toString())));
    } catch {
      return body;
    }
  if (has('replaced-bytes')) return Buffer.from(body.toString('utf8'));
  if (has('utf-8')) return Buffer.from(body.map((byte) => byte & 127));
  if (has('appended-byte')) return Buffer.from(body.toString('latin1').trimEnd(), 'latin1');
  return body;
}

function isEqual(right: string, given: string, has: Has): boolean {
  if (has('empty-signature') && given === '') return true;
  if (has('truncated-signature') && right.startsWith(given)) return true;
  if (has('respelled-signature'))
    return Buffer.from(right, 'base64').equals(Buffer.from(given, 'base64'));
  return right.length === given.length && timingSafeEqual(Buffer.from(right), Buffer.from(given));
}
