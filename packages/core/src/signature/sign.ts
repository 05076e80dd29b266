import { hmacBase64 } from '#platform';
import { WebhookError } from '../errors.ts';
import { casedHeaderNames, type HeaderPrefix, isSendable, type Profile } from './headers.ts';
import { type Key, keysOf } from './secrets.ts';

/** What to sign, and how. */
export interface SignOptions {
  /** `whsec_…` */
  secret: string;
  /** The exact body that will be sent. A string is signed as UTF-8. */
  body: Uint8Array | string;
  /** A new UUID by default, like every attempt of the service has. */
  webhookId?: string | undefined;
  /** A `Date`, or Unix seconds; now by default. */
  timestamp?: Date | number | undefined;
  /** `'X-Service'` by default. */
  headerPrefix?: HeaderPrefix | undefined;
  /** `'standard-webhooks'` for its header names: `webhook-id` and so on. */
  profile?: Profile | undefined;
}

/**
 * Signs one delivery as the service does (spec, "Signature computation").
 * @returns the three headers, ready to send
 * @throws WebhookError `invalid-secret`, or `invalid-options` for an id or a timestamp that no
 *   receiver would accept
 * @example
 * const body = JSON.stringify({ eventName: 'call:started', callId: 'c1' });
 * const headers = await sign({ secret, body });
 * await fetch(url, { method: 'POST', headers, body });
 */
export async function sign(options: SignOptions): Promise<Record<string, string>> {
  const [key] = keysOf(options.secret) as [Key]; // there is one at least
  const names = casedHeaderNames(options.headerPrefix, options.profile);
  const webhookId = options.webhookId ?? crypto.randomUUID();
  const timestamp = String(unixSeconds(options.timestamp ?? new Date()));
  if (!isSendable(webhookId, timestamp)) {
    throw new WebhookError(
      'invalid-options',
      'webhookId must be 1 to 256 visible ASCII characters without dots and commas, and timestamp a Date or whole Unix seconds.',
    );
  }
  const body =
    typeof options.body === 'string' ? new TextEncoder().encode(options.body) : options.body;
  const signature = await hmacBase64(key.hmac, `${webhookId}.${timestamp}.`, body);
  return {
    [names.id]: webhookId,
    [names.timestamp]: timestamp,
    [names.signature]: `v1,${signature}`,
  };
}

const unixSeconds = (time: Date | number): number =>
  typeof time === 'number' ? time : Math.floor(time.getTime() / 1000);
