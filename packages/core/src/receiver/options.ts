import type { ExtraEvents, HandlerOptions } from '../dispatch/handlers.ts';
import type { FieldNames } from '../events/call-details.ts';
import type { StandardSchema } from '../events/standard-schema.ts';
import type { HeaderNames, HeaderPrefix } from '../http/headers.ts';
import type { Outcome } from '../outcome/response.ts';
import type { Queue } from '../queue/queue.ts';
import type { Logger } from '../reporting/logger.ts';
import type { Secret } from '../signature/key-ring.ts';
import type { SecretProvider } from '../signature/secret-source.ts';
import type { Store } from '../store/store.ts';

/** Everything that a receiver can be told. Only `secret` is needed. */
export interface ReceiverOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
> extends HandlerOptions<Extra, Custom> {
  /** One signing secret, several, or a provider of them; `undefined` (an unset variable) throws. */
  secret: Secret | SecretProvider | undefined;
  /** Remembers webhook ids and events; a `memoryStore()` of its own by default. */
  store?: Store | undefined;
  /** Deliveries are put here durably and answered 202; workers run the handlers. */
  queue?: Queue | undefined;
  /** `X-Service` by default: the headers are `<prefix>-Webhook-Id`, `-Timestamp`, `-Signature`. */
  headerPrefix?: HeaderPrefix | undefined;
  /** Seconds that a delivery's timestamp may differ from the clock; 300 by default. */
  toleranceSeconds?: number | undefined;
  /** Milliseconds until a delivery is answered, 503 if need be; 20,000 by default, below the service's 30 s. */
  ackWithin?: number | undefined;
  /** Bytes, or a text such as `'512kb'`; `'1mb'` by default. */
  bodyLimit?: number | string | undefined;
  /** Milliseconds for the body to arrive whole; 5,000 by default. */
  bodyTimeout?: number | undefined;
  /** The names of the seven fields that the spec does not show. */
  fieldNames?: FieldNames | undefined;
  /** After so many failed attempts a delivery goes to `deadLetter`; 3 by default. */
  maxAttempts?: number | undefined;
  /** Deliveries handled at once; more are answered 503. 1,000 by default. */
  maxInFlight?: number | undefined;
  /** Milliseconds that a lease lasts unless it is renewed (at every third of it); 60,000 by default. */
  leaseFor?: number | undefined;
  /** Milliseconds that a call of the store or the queue may take; 1,000 by default. */
  storeTimeout?: number | undefined;
  /** `console` by default. */
  logger?: Logger | undefined;
  /** Told of every outcome, for metrics. What it throws is ignored. */
  onOutcome?: ((outcome: Outcome) => void) | undefined;
  /** The clock, in milliseconds; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** The options with every default filled in. */
export interface Settings {
  readonly secret: Secret | SecretProvider;
  readonly handlers: HandlerOptions;
  readonly store: Store;
  readonly queue: Queue | undefined;
  readonly names: HeaderNames;
  readonly toleranceSeconds: number;
  readonly ackWithin: number;
  readonly bodyLimit: number;
  readonly bodyTimeout: number;
  readonly fieldNames: FieldNames;
  readonly maxAttempts: number;
  readonly maxInFlight: number;
  readonly leaseFor: number;
  readonly storeTimeout: number;
  readonly logger: Logger;
  readonly onOutcome: ((outcome: Outcome) => void) | undefined;
  readonly now: () => number;
}
