import { bodyBytes } from '../http/body.ts';
import type { HeadersLike } from '../http/request.ts';
import type { Profile } from '../profile.ts';
import { authenticate, DEFAULT_TOLERANCE_SECONDS } from './authenticate.ts';
import { fixedKeys, type Secret } from './secrets.ts';
import { headerNames, type HeaderPrefix } from './signature-headers.ts';

/** How a delivery is verified. */
export interface VerifyOptions {
  /** One signing secret, or several of which any may match. */
  secret: Secret;
  /** `'X-Service'` by default: the headers are `<prefix>-Webhook-Id`, `-Timestamp`, `-Signature`. */
  headerPrefix?: HeaderPrefix | undefined;
  /** `'standard-webhooks'` for senders that follow Standard Webhooks. */
  profile?: Profile | undefined;
  /** Seconds that the timestamp may differ from the clock, on either side; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** The clock; milliseconds since the epoch, `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** What is known about a verified delivery. */
export interface Verified {
  webhookId: string;
  /** When this attempt was signed. */
  timestamp: Date;
  /** The `id` of the secret that matched. */
  secretId: string;
}

/**
 * Verifies the signature of one delivery, and nothing else: it neither rejects replays nor parses
 * the body. `createReceiver` does all of it.
 * @param delivery the headers, and the raw body exactly as received
 * @throws WebhookError `missing-header`, `malformed-header`, `timestamp-out-of-tolerance` or
 *   `signature-mismatch`; `invalid-secret` or `invalid-options` for wrong options;
 *   `body-already-parsed` if `body` is not bytes
 * @example
 * const { webhookId } = await verify({ headers: request.headers, body }, { secret });
 */
export async function verify(
  delivery: { headers: HeadersLike; body: Uint8Array },
  options: VerifyOptions,
): Promise<Verified> {
  const { webhookId, timestamp, secretId } = await authenticate(
    delivery.headers,
    bodyBytes(delivery.body),
    (options.now ?? Date.now)(),
    {
      names: headerNames(options.headerPrefix, options.profile),
      profile: options.profile,
      toleranceSeconds: options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
      keys: fixedKeys(options.secret),
    },
  );
  return { webhookId, timestamp: new Date(timestamp * 1000), secretId };
}
