import * as z from 'zod/mini';
import { boundTo, checkAgainst, option } from './check-options.ts';
import type { DeadLetterSink, DeadLetterStore } from './dead-letters/dead-letter.ts';
import type { HandlerContext } from './delivery.ts';
import { invalidOptions } from './errors.ts';
import type { FieldNames } from './events/call-details.ts';
import { fieldNamesRule } from './events/field-names.ts';
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

/**
 * The options that a receiver and a queue worker have in common: the handlers, the dead-letter store,
 * redaction, logging and hooks.
 */
export interface HandlerOptions<
  Extra extends ExtraEvents = ExtraEvents,
  Custom extends StandardSchema = StandardSchema,
  Context = HandlerContext,
>
  extends RouteOptions<Extra, Custom, Context>, ReportingHooks {
  /**
   * Keeps events that failed `maxAttempts` times (in a queue worker: `maxRuns` times) or whose payload
   * is invalid, so that one bad event cannot pause the rule. The value is a dead-letter store, such as
   * `memoryDeadLetters()` or `postgresDeadLetters(pool)`, or your own function. The delivery is
   * acknowledged once the letter is stored. By default, there are no dead letters, and the service or
   * the queue decides when to give up.
   */
  deadLetter?: DeadLetterSink | DeadLetterStore | undefined;
  /**
   * What is removed from error texts before they are logged: `'standard'` (the default), `'off'`, or a
   * function that returns the text to log.
   * @see Redact
   */
  redact?: Redact | undefined;
  /**
   * Where log lines go, `console` by default. It takes the fields first, as a pino logger does.
   * @see Logger
   */
  logger?: Logger | undefined;
  /**
   * The version of your app, such as the commit that is deployed: 1 to 100 characters without control
   * characters. The console shows it for each process and marks the time at which a new version
   * started. There is none by default.
   */
  version?: string | undefined;
}

/** The checked options that a receiver and a worker share. Dead letters go to a function. */
export interface HandlerSettings extends Omit<HandlerOptions, 'deadLetter'> {
  readonly deadLetter?: DeadLetterSink | undefined;
  readonly fieldNames: FieldNames;
  readonly logger: Logger;
}

/**
 * The context of a handler whose store or queue, judging by its type, does not keep its data in an SQL
 * database. Calling `completeIn` does not compile.
 */
export interface ContextWithoutCompleteIn extends HandlerContext {
  /**
   * Does not accept any transaction, and throws if it is called, because the store or the queue is not
   * in a database that could complete the event.
   */
  completeIn(
    this: void,
    tx: 'completeIn needs postgresStore, mysqlStore or sqliteStore, or a queue of Postgres or SQLite. Otherwise use context.key.',
  ): Promise<void>;
}

/**
 * The type of the context that handlers get from a receiver with this store. It has `completeIn` if the
 * store has it.
 */
export type ContextOf<S extends Store> = 'completeIn' extends keyof S
  ? [NonNullable<S['completeIn']>] extends [never]
    ? ContextWithoutCompleteIn
    : HandlerContext
  : ContextWithoutCompleteIn;

/**
 * The options of a receiver. Only `secret` is required. Every other option has a default that suits
 * production, except for `store`: the default store is lost when the process ends.
 */
export interface ReceiverOptions<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = Store,
>
  extends HandlerOptions<Extra, Custom, ContextOf<S>>, SignatureOptions {
  /**
   * The signing secrets: one, several (each webhook action has its own), or a function that returns
   * them, for a secrets manager or for tenants. `undefined`, as from an unset environment variable,
   * compiles, and throws `invalid-secret` at start-up.
   * @see Secret
   * @see SecretProvider
   */
  secret: Secret | SecretProvider | undefined;
  /**
   * Names the tenant of each request, if many workspaces share one endpoint. `secret` must then be a
   * function that returns the secrets of the given tenant. The tenant is a part of every event key, so
   * that tenants never share duplicates or leases. Without this option, there are no tenants.
   * @see TenantOf
   */
  tenant?: TenantOf | undefined;
  /**
   * Where the receiver remembers webhook ids, handled events and leases. By default, it creates a
   * `memoryStore()`, which is not shared between processes and forgets everything when the process
   * ends.
   */
  store?: S | undefined;
  /**
   * A queue that takes over verified deliveries. The receiver then stores each delivery in it and
   * responds 202, and queue workers run the handlers. Without it, the receiver runs the handlers before
   * it responds.
   */
  queue?: Queue | undefined;
  /**
   * Runs one event of a group at a time, across all processes that share the store: with `true`, the
   * events of one call; with a function, the events for which it returns the same string. A delivery
   * whose group is busy waits for up to nine tenths of `ackWithin`, and is then answered with 503
   * `in-progress`, so that the service retries it. By default, all events may run at the same time.
   * Cannot be combined with `queue`.
   * @see OneAtATime
   */
  oneAtATime?: OneAtATime | undefined;
  /**
   * The time in milliseconds, from the start of the request, within which the receiver responds: 1 to
   * 29,000, by default 20,000. The service waits 30,000 ms. If the handler has not finished by then,
   * the response is 503 `deadline`, and the handler keeps running.
   */
  ackWithin?: number | undefined;
  /**
   * Keeps a serverless function alive while a handler runs beyond `ackWithin`, for example `waitUntil`
   * from `@vercel/functions`. Used if the request does not provide one; none by default.
   */
  waitUntil?: ((work: Promise<unknown>) => unknown) | undefined;
  /**
   * The largest body that is accepted: a number of bytes, or a string such as `'512kb'`; `'1mb'`
   * (1,048,576 bytes) by default. A delivery with a larger body is answered with 413 `body-too-large`.
   */
  bodyLimit?: number | string | undefined;
  /**
   * The time in milliseconds for the whole body to arrive: 1 to 29,000, by default 5,000. It is never
   * longer than `ackWithin`. After that, the response is 408 `body-timeout`.
   */
  bodyTimeout?: number | undefined;
  /**
   * The number of failed attempts after which an event goes to `deadLetter`: 1 to 1,000, by default 3.
   * It has no effect without `deadLetter`. With `queue`, set `maxRuns` of the worker instead.
   */
  maxAttempts?: number | undefined;
  /**
   * The maximum number of deliveries that are handled at the same time in this process: 1 to 1,000,000,
   * by default 1,000. Further deliveries are answered with 503 `overloaded`.
   */
  maxInFlight?: number | undefined;
  /**
   * The maximum number of deliveries of one tenant that are handled at the same time in this process: 1
   * to 1,000,000, by default a tenth of `maxInFlight`, rounded up. Further ones are answered with 503
   * `overloaded`. Requires `tenant`.
   */
  maxInFlightPerTenant?: number | undefined;
  /**
   * The time in milliseconds for which a process holds an event before another process may run it: 1 to
   * 240,000, by default 60,000. While the handler runs, the lease is renewed every `leaseFor / 3`, up
   * to 240 s in total.
   */
  leaseFor?: number | undefined;
  /**
   * The time in milliseconds that one call to the store or the queue may take: 1 to 10,000, by default
   * 1,000. After that, the delivery is answered with 503 `store-unavailable`.
   */
  storeTimeout?: number | undefined;
  /**
   * `false` keeps the outcomes of this receiver out of the outcome log of its store, which the console
   * and `status` read. By default, they are written to it, if the store has one.
   */
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

/** The bytes of `'1mb'`, `'512kb'` or a number, or `undefined` if it is not a size. */
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
      'expected a function or a dead-letter store',
    ),
    z.transform((given): DeadLetterSink =>
      typeof given === 'function' ? given : (letter) => given.put(letter),
    ),
  );
const aSize = () =>
  z.pipe(
    z.custom<number | string>(
      (value: unknown) => byteSize(value) !== undefined,
      "expected a number of bytes or a string such as '1mb'",
    ),
    z.transform((size) => byteSize(size) as number),
  );
const whole = (min: number, max: number, byDefault: number) =>
  option.default(option.count(min, max), byDefault);

// Schemas are built when they are first needed.

/** The options that a receiver and a queue worker share. */
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
  fieldNames: fieldNamesRule(),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
  version: option.optional(
    option.text(
      /^[^\p{Cc}\p{Cs}]{1,100}$/u,
      'expected 1 to 100 characters without control characters',
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
      'maxAttempts has no effect with queue. Set maxRuns instead, the maximum number of runs of a job: it is an option of bullmqQueue and pgBossQueue, and of the worker for all other queues.',
    );
  if (checked.queue && checked.oneAtATime)
    throw invalidOptions(
      'oneAtATime has no effect on queue workers. Leave out queue, or leave out oneAtATime and let the handlers of the workers take a lock in their transactions: pg_advisory_xact_lock, or BEGIN IMMEDIATE in SQLite.',
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
      'secret: since tenant is set, expected a function that returns the secrets of the given tenant: ({ tenant }) => …. If all tenants shared one secret, each of them could send events in the name of any other.',
    );
  if (!tenant && maxInFlightPerTenant !== undefined)
    throw invalidOptions('maxInFlightPerTenant: it has no effect without tenant.');
}
