import { equalText, hmacBase64 } from '#platform';
import type { Delivery } from '../delivery.ts';
import { invalidOptions, WebhookError } from '../errors.ts';
import { checkBody, type HeadersLike } from '../http/request.ts';
import {
  casedHeaderNames,
  type HeaderNames,
  type HeaderPrefix,
  headerNames,
  isTimestamp,
  isWebhookId,
  readSignatureHeaders,
} from './headers.ts';
import { fixedKeys, type Key, keysOf, type KeySource, type Secret } from './secrets.ts';

/** Seconds on either side of the receiver's clock (spec, "Limits"). */
export const DEFAULT_TOLERANCE_SECONDS = 300;
/** Webhook ids are remembered for at least this long; seconds (spec, "Limits"). */
const MIN_REPLAY_MEMORY_SECONDS = 300;
/**
 * How far the service's clock may be ahead of all receivers, whose clocks may differ as well; seconds.
 */
const CLOCK_SLACK_SECONDS = 60;

/** What a delivery is verified against. */
export interface AuthenticationRules {
  readonly headerNames: HeaderNames;
  readonly toleranceSeconds: number;
}

/** What is known about a delivery that was verified. */
export interface Authentic extends Pick<Delivery, 'webhookId' | 'timestamp' | 'replayUntil'> {
  readonly secretId: string;
}

/**
 * Verifies headers, timestamp and HMAC (spec, "Verification by the receiver").
 * @param now milliseconds since the epoch
 * @throws WebhookError `missing-header`, `malformed-header`, `timestamp-out-of-tolerance`,
 *   `signature-mismatch`, `secret-unavailable`
 */
export async function authenticate(
  headers: HeadersLike,
  body: Uint8Array,
  now: number,
  { headerNames: names, toleranceSeconds }: AuthenticationRules,
  source: KeySource,
): Promise<Authentic> {
  const signed = readSignatureHeaders(headers, names);
  const timestamp = checkTimestamp(signed.timestamp, now, toleranceSeconds);
  const { webhookId } = signed;
  const head = `${webhookId}.${signed.timestamp}.`;
  const keys = await source.current(webhookId);
  let tried: readonly Key[] | undefined = keys;
  for (let isRefreshed = false; tried; isRefreshed = true) {
    for (const key of tried) {
      // Texts are compared, not the bytes they decode to: base64 has several spellings of one value.
      if (!equalText(await hmacBase64(key.hmac, head, body), signed.signature)) continue;
      source.verified?.note(key.id, now);
      const replayUntil = now + replayMemoryMs(toleranceSeconds);
      return { webhookId, timestamp, replayUntil, secretId: key.id };
    }
    tried = isRefreshed ? undefined : await source.refresh(webhookId, keys);
  }
  throw mismatch(keys, source, now);
}

/**
 * How long a webhook id has to be remembered, whatever the timestamp of the delivery is: a receiver with
 * the same store, whose clock is behind by the whole tolerance, accepts it until twice the tolerance has
 * passed since it was signed. One second more, because `checkTimestamp` reads the clock in whole seconds.
 */
const replayMemoryMs = (toleranceSeconds: number): number =>
  (Math.max(2 * toleranceSeconds + 1, MIN_REPLAY_MEMORY_SECONDS) + CLOCK_SLACK_SECONDS) * 1_000;

function mismatch(keys: readonly Key[], source: KeySource, now: number): WebhookError {
  const names = keys.map((key) => key.id);
  const ids = names.join(', ');
  const verified = source.verified?.told(names, now);
  const none =
    keys.length === 1
      ? `The only configured secret (${ids}) does not match this signature.`
      : `None of the ${String(keys.length)} configured secrets (${ids}) matches this signature.`;
  return new WebhookError(
    'signature-mismatch',
    source.mismatch ?? `${none} ${hintFor(source, verified)}`,
  );
}

const ONE_EACH = 'each webhook action has its own, and so does the recording webhook';

/** The body is not verified, so it can't tell which action sent it. */
const hintFor = (source: KeySource, verified: string | undefined): string =>
  source.verified && verified === undefined
    ? `No delivery has been verified since the start, so the secret of this action may be missing: ${ONE_EACH}. Otherwise, check that nothing modifies the body.`
    : `${verified === undefined ? '' : `Last verified delivery: ${verified}. `}If no delivery of this action was ever verified, its secret may be missing: ${ONE_EACH}. Otherwise, check that it was not rotated, and that nothing modifies the body.`;

/**
 * @returns Unix seconds
 * @throws WebhookError `timestamp-out-of-tolerance`
 */
function checkTimestamp(timestamp: string, now: number, toleranceSeconds: number): number {
  const seconds = Number(timestamp);
  const age = Math.floor(now / 1000) - seconds;
  if (Math.abs(age) <= toleranceSeconds) return seconds;
  const side = age > 0 ? 'ago' : 'ahead';
  throw new WebhookError(
    'timestamp-out-of-tolerance',
    `The delivery was signed ${String(Math.abs(age))} s ${side}, which is more than ${String(toleranceSeconds)} s. If all deliveries fail like this, check this machine's clock.`,
  );
}

/** The names of the signature headers, the allowed clock skew, and the clock. */
export interface SignatureOptions {
  /**
   * The prefix of the signature headers `<prefix>-Webhook-Id`, `<prefix>-Timestamp` and
   * `<prefix>-Signature`, or the three names. It is `'X-Service'` by default.
   */
  headerPrefix?: HeaderPrefix | undefined;
  /**
   * The allowed clock skew in seconds, in both directions: 1 to 86,400, by default 300 (spec,
   * "Limits"). A delivery whose timestamp differs by more is answered with 401.
   */
  toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds since the epoch; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** The options of `verify`. */
export interface VerifyOptions extends SignatureOptions {
  /**
   * One signing secret, or several, any of which may match. `undefined`, as from an unset environment
   * variable, compiles, and throws `invalid-secret`.
   */
  secret: Secret | undefined;
}

/** What is known about a delivery once it is verified. */
export interface Verified {
  /** The id of the delivery. */
  webhookId: string;
  /** The time at which the service signed this delivery. */
  timestamp: Date;
  /** The `id` of the secret that matched. */
  secretId: string;
}

/**
 * Verifies the signature and the timestamp of one delivery, and nothing else: it neither rejects
 * replays nor parses the body. A receiver (`createReceiver`) does all of that.
 * @param delivery the headers, and the raw body exactly as it was received
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
    checkBody(delivery.body, Infinity),
    options.now?.() ?? Date.now(),
    {
      headerNames: headerNames(options.headerPrefix),
      toleranceSeconds: options.toleranceSeconds ?? DEFAULT_TOLERANCE_SECONDS,
    },
    fixedKeys(options.secret),
  );
  return { webhookId, timestamp: new Date(timestamp * 1000), secretId };
}

/** The options of `sign`: what to sign, and with which secret. */
export interface SignOptions extends Pick<VerifyOptions, 'headerPrefix'> {
  /**
   * The signing secret, `whsec_…`. `undefined`, as from an unset environment variable, compiles, and
   * throws `invalid-secret`.
   */
  secret: string | undefined;
  /** The exact body that will be sent. A string is signed as UTF-8. */
  body: Uint8Array | string;
  /** The id of the delivery; a new UUID by default, as the service uses for every delivery. */
  webhookId?: string | undefined;
  /** The time of the signature, as a `Date` or in Unix seconds; now by default. */
  timestamp?: Date | number | undefined;
}

/**
 * Signs one delivery as the service does (spec, "Signature computation").
 * @returns the three signature headers, ready to send
 * @throws WebhookError `invalid-secret`, or `invalid-options` for an id or a timestamp that no receiver
 *   would accept
 * @example
 * const body = JSON.stringify({ eventName: 'call:started', callId: 'c1' });
 * const headers = await sign({ secret, body });
 * await fetch(url, { method: 'POST', headers, body });
 */
export async function sign(options: SignOptions): Promise<Record<string, string>> {
  const [key] = (await keysOf(options.secret)) as [Key]; // there is one at least
  const names = casedHeaderNames(options.headerPrefix);
  const webhookId = options.webhookId ?? crypto.randomUUID();
  const timestamp = String(unixSeconds(options.timestamp ?? new Date()));
  if (!isWebhookId(webhookId))
    throw invalidOptions(
      'webhookId: expected 1 to 256 visible ASCII characters without dots and commas, because a receiver rejects any other id.',
    );
  if (!isTimestamp(timestamp))
    throw invalidOptions(
      options.timestamp === undefined
        ? `The clock of this process is at ${timestamp} seconds since 1970, which a receiver rejects. Mocked timers often begin at 0: set their time (mock.timers.enable({ now: Date.now() })), or pass a timestamp.`
        : 'timestamp: expected a Date after 1970, or whole Unix seconds above 0, because a receiver rejects any other time.',
    );
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
