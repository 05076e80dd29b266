import type { OneAtATime } from '../dispatch/group.ts';
import type { ContextOf } from '../dispatch/context-of-store.ts';
import type { CheckedHandlerOptions, ExtraEvents, HandlerOptions } from '../dispatch/handlers.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/schema.ts';
import type { Profile } from '../profile.ts';
import type { Queue } from '../queue.ts';
import type { Logger } from '../reporting/logger.ts';
import type { SecretProvider } from '../signature/secret-provider.ts';
import type { TenantOf } from '../signature/tenant-names.ts';
import type { Secret } from '../signature/secrets.ts';
import type { HeaderNames, HeaderPrefix } from '../signature/signature-headers.ts';
import type { Store } from '../store/store.ts';

/** The options of a receiver. Only `secret` is required. */
export interface ReceiverOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
> extends HandlerOptions<Extra, Custom, ContextOf<S>> {
  /** One signing secret, several, or a provider of them; `undefined` (an unset variable) throws. */
  secret: Secret | SecretProvider | undefined;
  /**
   * Many workspaces at one endpoint: names the tenant of a request. `secret` has to be a provider, and
   * is asked for each tenant. The tenant is part of every key, so equal ids of two tenants are two
   * events, and it is in outcomes, log lines and `context.tenant`.
   * @see TenantOf
   */
  tenant?: TenantOf | undefined;
  /** The deduplication store; a new `memoryStore()` by default. */
  store?: S | undefined;
  /** The job queue: deliveries are stored in it and answered 202, and workers run the handlers. */
  queue?: Queue | undefined;
  /**
   * Runs one event of a group at a time, in all processes that share the store. `true` groups by
   * `callId`. A delivery whose group is busy waits, within `ackWithin` and without using up an attempt;
   * then it is answered 503 `in-progress`. It can't be combined with `queue`.
   */
  oneAtATime?: OneAtATime | undefined;
  /** `'X-Service'` by default: the headers are `<prefix>-Webhook-Id`, `-Timestamp`, `-Signature`. */
  headerPrefix?: HeaderPrefix | undefined;
  /**
   * `'standard-webhooks'` for senders that follow Standard Webhooks: headers `webhook-id` and so on,
   * several signatures in one header, and a webhook id that stays the same on retries.
   * A replay is then the same webhook id with the same timestamp.
   */
  profile?: Profile | undefined;
  /** Seconds that a timestamp may differ from the clock, on either side; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** Milliseconds until a response is sent; 20,000 by default. The service waits 30,000. */
  ackWithin?: number | undefined;
  /**
   * Keeps a serverless function alive for handlers that run beyond `ackWithin`, if the request does
   * not provide one itself; for example `waitUntil` of `@vercel/functions`.
   */
  waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
  /** Bytes, or a text such as `'512kb'`; `'1mb'` by default. */
  bodyLimit?: number | string | undefined;
  /** Milliseconds for the whole body to arrive; 5,000 by default. */
  bodyTimeout?: number | undefined;
  /** The names of the seven fields that the spec does not name, for `context.call`. */
  fieldNames?: FieldNames | undefined;
  /** The number of failed attempts after which an event goes to `deadLetter`; 3 by default. */
  maxAttempts?: number | undefined;
  /** How many deliveries are handled at once, the others are answered 503; 1,000 by default. */
  maxInFlight?: number | undefined;
  /**
   * How many deliveries of one tenant are handled at once, the others are answered 503; a tenth of
   * `maxInFlight` by default. Only with `tenant`.
   */
  maxInFlightPerTenant?: number | undefined;
  /** Milliseconds that a lease lasts, renewed at every third of it; 60,000 by default. */
  leaseFor?: number | undefined;
  /** Milliseconds for one call of the store or the queue; 1,000 by default. */
  storeTimeout?: number | undefined;
  /** Where log lines go; `console` by default. */
  logger?: Logger | undefined;
  /** The clock; milliseconds since the epoch, `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** The checked options, with every default filled in. */
export interface Settings {
  readonly secret: Secret | SecretProvider;
  readonly tenant: TenantOf | undefined;
  readonly handlers: CheckedHandlerOptions;
  readonly store: Store;
  readonly queue: Queue | undefined;
  readonly oneAtATime: OneAtATime | undefined;
  readonly names: HeaderNames;
  readonly profile: Profile | undefined;
  readonly toleranceSeconds: number;
  readonly ackWithin: number;
  readonly waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
  readonly bodyLimit: number;
  readonly bodyTimeout: number;
  readonly fieldNames: FieldNames;
  readonly maxAttempts: number;
  readonly maxInFlight: number;
  readonly maxInFlightPerTenant: number;
  readonly leaseFor: number;
  readonly storeTimeout: number;
  readonly logger: Logger;
  readonly now: () => number;
}
