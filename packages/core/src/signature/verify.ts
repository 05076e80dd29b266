import { bodyBytes } from '../http/body.ts';
import { headerNames, type HeaderPrefix, type HeadersLike } from '../http/headers.ts';
import { authenticate } from './authenticate.ts';
import type { Secret } from './key-ring.ts';
import { fixedSecrets } from './secret-source.ts';
import { DEFAULT_TOLERANCE_SECONDS } from './timestamp.ts';

/** How a delivery is verified. */
export interface VerifyOptions {
  /** One signing secret, or several of which any may match. */
  secret: Secret;
  /** `X-Service` by default: the headers are `<prefix>-Webhook-Id`, `-Timestamp`, `-Signature`. */
  headerPrefix?: HeaderPrefix | undefined;
  /** Seconds either side of the clock; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** What is known of a verified delivery. */
export interface Verified {
  webhookId: string;
  /** When this attempt was signed. */
  timestamp: Date;
  /** The `id` of the secret that matched. */
  secretId: string;
}

/**
 * Verifies one delivery, and nothing more: no replay memory, no parsing. `createReceiver` does all.
 * @param delivery the request's headers, and its raw body, byte for byte as received
 * @throws WebhookError with the code that the answer table names: `missing-header`,
 *   `malformed-header`, `timestamp-out-of-tolerance`, `signature-mismatch`; `invalid-secret` and
 *   `invalid-options` for wrong options; `body-already-parsed` when `body` is not bytes
 */
export async function verify(
  delivery: { headers: HeadersLike; body: Uint8Array },
  options: VerifyOptions,
): Promise<Verified> {
  const result = authenticate(
    delivery.headers,
    bodyBytes(delivery.body),
    (options.now ?? Date.now)(),
    {
      names: headerNames(options.headerPrefix),
      toleranceSeconds: options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
      secrets: fixedSecrets(options.secret),
    },
  );
  const { webhookId, timestamp, secretId } = result instanceof Promise ? await result : result;
  return { webhookId, timestamp: new Date(timestamp * 1000), secretId };
}
