import { hmacBase64 } from '#hmac';
import { casedHeaderNames, isSendable, type HeaderPrefix } from '../http/headers.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import { keysOf } from './key-ring.ts';

/** What is to be signed, and as what. */
export interface SignOptions {
  /** `whsec_…` */
  secret: string;
  /** The exact body that will be sent; a text is sent, and so signed, as UTF-8. */
  body: Uint8Array | string;
  /** A new UUID by default, as every attempt of the service has one of its own. */
  webhookId?: string | undefined;
  /** A `Date`, or Unix seconds; now by default. */
  timestamp?: Date | number | undefined;
  /** `X-Service` by default. */
  headerPrefix?: HeaderPrefix | undefined;
}

/**
 * Signs one delivery attempt as the service does (spec, "Signature computation").
 * @returns the three headers, ready to send
 * @throws WebhookError `invalid-secret`, or `invalid-options` for an id or a timestamp that no receiver would take
 */
export async function sign(options: SignOptions): Promise<Record<string, string>> {
  const [key] = keysOf(options.secret);
  const names = casedHeaderNames(options.headerPrefix);
  const webhookId = options.webhookId ?? crypto.randomUUID();
  const timestamp = String(unixSeconds(options.timestamp ?? new Date()));
  if (!isSendable(webhookId, timestamp)) {
    throw new WebhookError(
      'invalid-options',
      'webhookId is 1 to 256 visible ASCII characters without dots and commas, and timestamp is a Date or whole Unix seconds.',
    );
  }
  const body =
    typeof options.body === 'string' ? new TextEncoder().encode(options.body) : options.body;
  if (!key) throw new WebhookError('invalid-secret', 'There is no secret to sign with.');
  const signature = await hmacBase64(key.hmac, `${webhookId}.${timestamp}.`, body);
  return {
    [names.id]: webhookId,
    [names.timestamp]: timestamp,
    [names.signature]: `v1,${signature}`,
  };
}

const unixSeconds = (time: Date | number): number =>
  typeof time === 'number' ? time : Math.floor(time.getTime() / 1000);
