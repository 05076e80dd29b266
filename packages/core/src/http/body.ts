import { WebhookError } from '../outcome/webhook-error.ts';
import { describeError } from '../privacy/scrub.ts';

/** What bounds the reading of a body. */
export interface BodyLimits {
  /** Bytes. */
  readonly bodyLimit: number;
  /** Milliseconds, from the first look at the body to its last byte. */
  readonly bodyTimeout: number;
}

/**
 * How an adapter gets the raw body: the receiver calls it when it is the body's turn.
 * It rejects with a `WebhookError` (`body-too-large`, `body-timeout`, `body-already-parsed`).
 */
export type BodyReader = (limits: BodyLimits) => Promise<Uint8Array>;

const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

/** Bytes of `'1mb'`, `'512kb'` or a number; `undefined` when it is no size. */
export function byteSize(size: string | number): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size > 0 ? size : undefined;
  const match = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(size);
  if (!match) return undefined;
  const bytes = Math.floor(Number(match[1]) * UNITS[match[2]?.toLowerCase() as keyof typeof UNITS]);
  return bytes > 0 ? bytes : undefined;
}

/**
 * The raw body, whole and within its limits.
 * @throws WebhookError `body-too-large`, `body-timeout`, `body-already-parsed`
 */
export async function readBody(
  body: Uint8Array | BodyReader,
  limits: BodyLimits,
): Promise<Uint8Array> {
  let given: unknown = body;
  try {
    if (typeof body === 'function') given = await body(limits);
  } catch (error) {
    throw error instanceof WebhookError ? error : tooSlow(describeError(error));
  }
  const bytes = bodyBytes(given);
  if (bytes.length > limits.bodyLimit) throw tooLarge(limits.bodyLimit);
  return bytes;
}

/** @throws WebhookError `body-already-parsed` for anything but bytes: a parsed body can't be verified */
export function bodyBytes(body: unknown): Uint8Array {
  if (body instanceof Uint8Array) return body;
  throw alreadyParsed('Pass the raw bytes of the request, as they were received.');
}

/** The signature is over the raw bytes, and what somebody else parsed can't be turned back into them. */
export const alreadyParsed = (fix: string) =>
  new WebhookError(
    'body-already-parsed',
    `The body was read before it got here, so its signature can't be checked. ${fix}`,
  );

export const tooLarge = (limit: number) =>
  new WebhookError('body-too-large', `The body is larger than bodyLimit, ${String(limit)} bytes.`);

export const tooSlow = (why: string) =>
  new WebhookError('body-timeout', `The body did not arrive whole: ${why}.`);
