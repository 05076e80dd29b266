import * as z from 'zod/mini';
import { boundTo, checkAgainst, option } from './check-options.ts';
import type { DeadLetterSink, DeadLetterStore } from './dead-letters/dead-letter.ts';
import type { HandlerContext } from './delivery.ts';
import { invalidOptions } from './errors.ts';
import type { FieldNames } from './events/call-details.ts';
import type { ExtraEvents, RouteOptions } from './events/handlers.ts';
import { HANDLER_EXPECTED, isHandler, isSchema, SCHEMA_EXPECTED } from './events/named.ts';
import type { OneAtATime } from './events/route.ts';
import type { StandardSchema } from './events/schema.ts';
import type { BodyLimits } from './http/request.ts';
import type { Queue } from './queue.ts';
import type { Logger } from './report/logger.ts';
import type { Redact } from './report/redact.ts';
import { type ReportingHooks, withWarnings } from './report/reporter.ts';
import { headerNames } from './signature/headers.ts';
import type { SecretProvider, TenantOf } from './signature/secret-provider.ts';
import type { Secret } from './signature/secrets.ts';
import {
  DEFAULT_TOLERANCE_SECONDS,
  type AuthenticationRules,
  type SignatureOptions,
} from './signature/verify.ts';
import { MAX_LEASE_MS } from './store/lease.ts';
import { memoryStore } from './store/memory-store.ts';
import type { Store } from './store/store.ts';

/** The options that a receiver and a queue's worker share. */
export interface HandlerOptions<
  Extra extends ExtraEvents = ExtraEvents,
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
>
  extends RouteOptions<Extra, Custom, Context>, ReportingHooks {
  /**
   * Keeps events that failed `maxAttempts` times (jobs: `maxRuns` times), so that one bad event can't
   * pause the rule: a store of dead letters, or a function of yours.
   */
  deadLetter?: DeadLetterSink | DeadLetterStore | undefined;
  /** What is removed from the texts of errors in log lines; `'standard'` by default. @see Redact */
  redact?: Redact | undefined;
  /** Where log lines go; `console` by default. */
  logger?: Logger | undefined;
  /**
   * The version of your app, such as the commit that is deployed: 1 to 100 characters. The console shows it
   * for each process, and marks when a new one came. None by default.
   */
  version?: string | undefined;
}

/** The checked options that a receiver and a worker share. Dead letters go to a function. */
export interface HandlerSettings extends Omit<HandlerOptions, 'deadLetter'> {
  readonly deadLetter?: DeadLetterSink | undefined;
  readonly fieldNames: FieldNames;
  readonly logger: Logger;
}

/** The context where, as the types say, the store or queue is in no database. */
export interface ContextWithoutCompleteIn extends HandlerContext {
  /** Compiles for no transaction, and throws. */
  completeIn(
    this: void,
    tx: 'completeIn needs postgresStore, mysqlStore or sqliteStore, or a queue of Postgres or SQLite. Otherwise use context.key.',
  ): Promise<void>;
}

/** The context of a receiver with this store. */
export type ContextOf<S extends Store> = 'completeIn' extends keyof S
  ? [NonNullable<S['completeIn']>] extends [never]
    ? ContextWithoutCompleteIn
    : HandlerContext
  : ContextWithoutCompleteIn;

/** The options of a receiver. Only `secret` is required. */
export interface ReceiverOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
>
  extends HandlerOptions<Extra, Custom, ContextOf<S>>, SignatureOptions {
  /** One signing secret, several, or a provider of them; `undefined` (an unset variable) throws. */
  secret: Secret | SecretProvider | undefined;
  /**
   * Names the tenant of a request, where many workspaces share one endpoint. `secret` then has to be a
   * provider, and the tenant is a part of every key.
   * @see TenantOf
   */
  tenant?: TenantOf | undefined;
  /** The deduplication store; a new `memoryStore()` by default. */
  store?: S | undefined;
  /** The job queue: deliveries are stored in it and answered 202, and workers run the handlers. */
  queue?: Queue | undefined;
  /**
   * Runs one event of a group at a time, in all processes that share the store. A delivery whose group
   * is busy waits, within `ackWithin`, and then gets 503 `in-progress`. Not with `queue`.
   * @see OneAtATime
   */
  oneAtATime?: OneAtATime | undefined;
  /** Milliseconds until a response is sent; 20,000 by default. The service waits 30,000. */
  ackWithin?: number | undefined;
  /**
   * Keeps a serverless function alive for handlers that run beyond `ackWithin`, if the request brings
   * none itself; `waitUntil` of `@vercel/functions`, for example.
   */
  waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
  /** Bytes, or a text such as `'512kb'`; `'1mb'` by default. */
  bodyLimit?: number | string | undefined;
  /** Milliseconds for the whole body to arrive; 5,000 by default, and never more than `ackWithin`. */
  bodyTimeout?: number | undefined;
  /** After how many failed attempts an event goes to `deadLetter`; 3 by default. Jobs have `maxRuns`. */
  maxAttempts?: number | undefined;
  /** How many deliveries are handled at once, the others are answered 503; 1,000 by default. */
  maxInFlight?: number | undefined;
  /** The same for each tenant; a tenth of `maxInFlight` by default. */
  maxInFlightPerTenant?: number | undefined;
  /** Milliseconds that a lease lasts, renewed at every third of it; 60,000 by default. */
  leaseFor?: number | undefined;
  /** Milliseconds for one call of the store or the queue; 1,000 by default. */
  storeTimeout?: number | undefined;
  /** `false` keeps outcomes out of the store's log, which the console shows. */
  log?: false | undefined;
}

type WithDefault =
  | 'maxAttempts'
  | 'secret'
  | 'store'
  | 'ackWithin'
  | 'maxInFlight'
  | 'maxInFlightPerTenant'
  | 'leaseFor'
  | 'storeTimeout'
  | 'now';
type Optional = 'tenant' | 'queue' | 'oneAtATime' | 'waitUntil' | 'log';
type Defaults = { readonly [Name in WithDefault]-?: NonNullable<ReceiverOptions[Name]> };

/** The checked options of a receiver, with every default filled in. */
export interface Settings
  extends
    HandlerSettings,
    BodyLimits,
    AuthenticationRules,
    Defaults,
    Readonly<Pick<ReceiverOptions, Optional>> {}

const UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

/** The bytes of `'1mb'`, `'512kb'` or a number, or `undefined` if it is no size. */
export function byteSize(size: unknown): number | undefined {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size > 0 ? size : undefined;
  if (typeof size !== 'string') return undefined;
  const match = /^(\d+(?:\.\d+)?)\s*(b|kb|mb|gb)$/i.exec(size);
  if (!match) return undefined;
  const bytes = Math.floor(Number(match[1]) * UNITS[match[2]?.toLowerCase() as keyof typeof UNITS]);
  return bytes > 0 ? bytes : undefined;
}

const isFunction = (value: unknown) => typeof value === 'function';
const aFunction = () => option.function<never>();
const aHandler = () => z.custom<never>(isHandler, HANDLER_EXPECTED);
const aSchema = () => z.custom<never>(isSchema, SCHEMA_EXPECTED);
const aSink = () =>
  z.pipe(
    z.custom<DeadLetterSink | DeadLetterStore>(
      (value: unknown) =>
        isFunction(value) || isFunction(Reflect.get(Object(value) as object, 'put')),
      'expected a function, or a store of dead letters',
    ),
    z.transform((given): DeadLetterSink =>
      typeof given === 'function' ? given : (letter) => given.put(letter),
    ),
  );
const aSize = () =>
  z.pipe(
    z.custom<number | string>(
      (value: unknown) => byteSize(value) !== undefined,
      "expected a number of bytes, or a text such as '1mb'",
    ),
    z.transform((size) => byteSize(size) as number),
  );
const whole = (min: number, max: number, byDefault: number) =>
  option.default(option.count(min, max), byDefault);
const text = () => z.optional(option.string());

// Schemas are built when they are first needed.

/** The options that a receiver and a queue's worker share. */
export const handlerShape = () => ({
  on: z.optional(option.object<never>()),
  events: z.optional(option.object<never>()),
  custom: z.optional(
    z.strictObject({
      schema: z.optional(aSchema()),
      key: z.optional(aFunction()),
      handle: aHandler(),
    }),
  ),
  includeSchemaValues: z.optional(option.boolean()),
  onUnhandled: z.optional(aHandler()),
  deadLetter: z.optional(aSink()),
  around: z.optional(
    z.union([aFunction(), z.array(aFunction())], 'expected a function or a list of functions'),
  ),
  redact: z.optional(
    z.union([z.enum(['standard', 'off']), aFunction()], "expected 'standard', 'off' or a function"),
  ),
  onError: z.optional(aFunction()),
  onOutcome: z.optional(aFunction()),
  fieldNames: z._default(
    z.strictObject({
      placedBy: text(),
      createdAt: text(),
      calledNumber: text(),
      calledEmail: text(),
      calledName: text(),
      dialedAt: text(),
      endedAt: text(),
    }),
    {},
  ),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  version: option.optional(
    option.text(
      /^[^\p{Cc}\p{Cs}]{1,100}$/u,
      'expected 1 to 100 characters, and no control characters',
    ),
  ),
});

const receiverShape = () => ({
  ...handlerShape(),
  maxAttempts: whole(1, 1_000, 3),
  secret: z.optional(z.unknown()),
  tenant: z.optional(option.function<TenantOf>()),
  store: z.optional(option.object<Store>('admit', 'complete', 'release', 'extend')),
  queue: z.optional(option.object<Queue>('enqueue')),
  oneAtATime: z.optional(
    z.union([z.literal(true), option.function<OneAtATime>()], 'expected true or a function'),
  ),
  headerPrefix: z.optional(
    z.union(
      [
        z.string(),
        z.strictObject({ id: z.string(), timestamp: z.string(), signature: z.string() }),
      ],
      "expected a prefix such as 'X-Service', or { id, timestamp, signature }",
    ),
  ),
  toleranceSeconds: whole(1, 86_400, DEFAULT_TOLERANCE_SECONDS),
  ackWithin: whole(1, 29_000, 20_000),
  waitUntil: z.optional(option.function<(work: Promise<unknown>) => unknown>()),
  bodyLimit: z.prefault(aSize(), '1mb'),
  bodyTimeout: whole(1, 29_000, 5_000),
  maxInFlight: whole(1, 1_000_000, 1_000),
  maxInFlightPerTenant: z.optional(option.count(1, 1_000_000)),
  leaseFor: whole(1, MAX_LEASE_MS, 60_000),
  storeTimeout: whole(1, 10_000, 1_000),
  log: z.optional(z.literal(false, 'expected false')),
  now: option.default(option.function<() => number>(), () => () => Date.now()),
});

let receiverSchema: z.ZodMiniObject<ReturnType<typeof receiverShape>, z.core.$strict> | undefined;

/**
 * Checks the options of a receiver and fills in the defaults.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function resolveSettings(options: ReceiverOptions<never, never>): Settings {
  const checked = checkAgainst((receiverSchema ??= z.strictObject(receiverShape())), options);
  checkTenants(checked);
  if (checked.queue && options.maxAttempts !== undefined)
    throw invalidOptions(
      'maxAttempts has no effect with queue. How often a job runs is maxRuns, an option of bullmqQueue and pgBossQueue, or of the worker of the other queues.',
    );
  if (checked.queue && checked.oneAtATime)
    throw invalidOptions(
      'oneAtATime has no effect on the workers of a queue. Leave out queue, or leave out oneAtATime and let the handlers of the workers take a lock in their transactions: pg_advisory_xact_lock, or BEGIN IMMEDIATE in SQLite.',
    );
  const { headerPrefix, maxInFlightPerTenant, store, ...rest } = checked;
  return {
    ...rest,
    ...withWarnings(rest, rest.logger),
    secret: rest.secret as Secret | SecretProvider,
    maxInFlightPerTenant: maxInFlightPerTenant ?? Math.ceil(rest.maxInFlight / 10),
    bodyTimeout: Math.min(rest.bodyTimeout, rest.ackWithin),
    headerNames: headerNames(headerPrefix),
    // Only a clock that was passed in: by default leases use the monotonic clock.
    store: store ?? memoryStore({ now: options.now && rest.now, logger: rest.logger }),
  };
}

/** Of workers as well. */
const optionNames = () => [...Object.keys(receiverShape()), 'maxRuns'];

/**
 * The options of a receiver or a worker without those that belong to whoever calls this. With a rest,
 * `({ path, ...options })`, the methods and getters of an instance of a class would be lost.
 * @param own the names of the options to leave out
 */
export function withoutOptions<
  Options extends object,
  const Own extends readonly (keyof Options & string)[],
>(options: Options, ...own: Own): Omit<Options, Own[number]> {
  const rest = { ...options } as Record<string, unknown>; // one that is misspelt is refused later
  for (const name of optionNames()) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) rest[name] = boundTo(options, value);
  }
  for (const name of own) Reflect.deleteProperty(rest, name);
  return rest as Omit<Options, Own[number]>;
}

/** @throws WebhookError `invalid-options` */
function checkTenants(options: {
  tenant?: TenantOf | undefined;
  secret?: unknown;
  maxInFlightPerTenant?: number | undefined;
}): void {
  const { tenant, secret, maxInFlightPerTenant } = options;
  if (tenant && typeof secret !== 'function')
    throw invalidOptions(
      "secret: with tenant, expected a function that returns each tenant's own secrets: ({ tenant }) => …. One secret for all would let every tenant in everywhere.",
    );
  if (!tenant && maxInFlightPerTenant !== undefined)
    throw invalidOptions('maxInFlightPerTenant: it needs tenant.');
}
