import { WebhookError } from '../outcome/webhook-error.ts';

const PREFIX = 'whsec_';
const MIN_BYTES = 16;
const FIX = 'Copy it whole from where the webhook action was created or rotated.';

/**
 * The bytes of a signing secret: base64 after `whsec_` (spec, "Authentication").
 * @throws WebhookError `invalid-secret` when it is not one. The message never holds the text.
 */
export function secretBytes(text: unknown): Uint8Array {
  const wrong = problemWith(text);
  if (wrong !== undefined)
    throw new WebhookError('invalid-secret', `The signing secret ${wrong} ${FIX}`);
  const binary = atob((text as string).slice(PREFIX.length));
  const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
  if (bytes.length < MIN_BYTES) {
    throw new WebhookError(
      'invalid-secret',
      `The signing secret is too short: ${String(bytes.length)} bytes, at least ${String(MIN_BYTES)} are needed. ${FIX}`,
    );
  }
  return bytes;
}

function problemWith(text: unknown): string | undefined {
  if (text === undefined) return 'is undefined: is the environment variable set?';
  if (typeof text !== 'string')
    return `is not a string but ${text === null ? 'null' : typeof text}.`;
  if (text === '') return 'is empty: is the environment variable set?';
  if (text.trim() !== text) return 'has white space around it: trim it.';
  if (!text.startsWith(PREFIX)) return `does not start with ${PREFIX}.`;
  const base64 = text.slice(PREFIX.length);
  if (base64 === '') return `has nothing after ${PREFIX}.`;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return `is not base64 after ${PREFIX}.`;
  const unpadded = base64.replace(/=+$/, '').length;
  const whole = unpadded % 4 !== 1 && (unpadded === base64.length || base64.length % 4 === 0);
  return whole ? undefined : `is not base64 after ${PREFIX}: it looks cut off.`;
}

/**
 * A new random secret, `whsec_…`, for tests and for simulated services.
 * @param bytes how many random bytes it holds, 16 to 1,024; 24 by default
 * @throws WebhookError `invalid-secret` for a size outside that range
 */
export function generateSecret(bytes = 24): string {
  if (!Number.isInteger(bytes) || bytes < MIN_BYTES || bytes > 1024) {
    throw new WebhookError(
      'invalid-secret',
      `A secret has ${String(MIN_BYTES)} to 1024 bytes, not ${String(bytes)}.`,
    );
  }
  return PREFIX + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))));
}
