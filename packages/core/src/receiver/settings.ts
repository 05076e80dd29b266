import * as z from 'zod/mini';
import { checkAgainst, option } from '../check-options.ts';
import type { OneAtATime } from '../dispatch/group.ts';
import { WebhookError } from '../outcome/webhook-error.ts';
import type { Queue } from '../queue.ts';
import { withWarnings } from '../reporting/hook-warnings.ts';
import type { Logger } from '../reporting/logger.ts';
import type { Secret } from '../signature/secrets.ts';
import { headerNames } from '../signature/signature-headers.ts';
import type { TenantOf } from '../signature/tenant-names.ts';
import type { SecretProvider } from '../signature/secret-provider.ts';
import { DEFAULT_TOLERANCE_SECONDS } from '../signature/authenticate.ts';
import type { DeadLetterSink, DeadLetterStore } from '../store/dead-letter.ts';
import { MAX_LEASE_MS } from '../store/lease.ts';
import { memoryStore } from '../store/memory-store.ts';
import type { Store } from '../store/store.ts';
import { byteSize } from './byte-size.ts';
import { checkEventNames } from './event-names.ts';
import type { ReceiverOptions, Settings } from './options.ts';

const isFunction = (value: unknown) => typeof value === 'function';
const aFunction = () => option.function<never>();
const aSchema = () =>
  z.custom<never>(
    (value: unknown) =>
      (typeof value === 'object' || typeof value === 'function') &&
      value !== null &&
      '~standard' in value,
    'expected a schema (zod, valibot, arktype or another Standard Schema)',
  );
const aSink = () =>
  z.pipe(
    z.custom<DeadLetterSink | DeadLetterStore>(
      (value: unknown) =>
        isFunction(value) || isFunction(Reflect.get(Object(value) as object, 'put')),
      'expected a function, or a store of dead letters',
    ),
    z.transform((given: DeadLetterSink | DeadLetterStore): DeadLetterSink =>
      typeof given === 'function' ? given : (letter) => given.put(letter),
    ),
  );
const whole = (min: number, max: number, byDefault: number) =>
  z._default(z.int().check(z.minimum(min), z.maximum(max)), byDefault);

// Schemas are built when they are first needed: that takes longer than loading this package.

/** The options that a receiver and a queue's worker share. */
export const handlerShape = () => ({
  on: z.optional(z.record(z.string(), z.optional(aFunction()))),
  events: z.optional(z.record(z.string(), aSchema())),
  custom: z.optional(
    z.strictObject({
      schema: z.optional(aSchema()),
      key: z.optional(aFunction()),
      handle: aFunction(),
    }),
  ),
  includeSchemaValues: z.optional(z.boolean()),
  onUnhandled: z.optional(aFunction()),
  deadLetter: z.optional(aSink()),
  around: z.optional(
    z.union([aFunction(), z.array(aFunction())], 'expected a function or a list of functions'),
  ),
  redact: z.optional(
    z.union(
      [z.enum(['standard', 'strict', 'off']), aFunction()],
      "expected 'standard', 'strict', 'off' or a function",
    ),
  ),
  onError: z.optional(aFunction()),
  onOutcome: z.optional(aFunction()),
  fieldNames: z._default(
    z.strictObject({
      placedBy: z.optional(z.string()),
      createdAt: z.optional(z.string()),
      calledNumber: z.optional(z.string()),
      calledEmail: z.optional(z.string()),
      calledName: z.optional(z.string()),
      dialedAt: z.optional(z.string()),
      endedAt: z.optional(z.string()),
    }),
    {},
  ),
  maxAttempts: whole(1, 1_000, 3),
  logger: z._default(option.object<Logger>('warn', 'error'), () => console),
});

const receiverShape = () => ({
  ...handlerShape(),
  secret: z.unknown(),
  tenant: z.optional(option.function<TenantOf>()),
  profile: z.optional(z.literal('standard-webhooks')),
  store: z.optional(option.object<Store>('admit', 'complete', 'release', 'extend')),
  queue: z.optional(option.object<Queue>('enqueue')),
  oneAtATime: z.optional(
    z.union([z.literal(true), option.function<OneAtATime>()], 'expected true or a function'),
  ),
  headerPrefix: z.optional(
    z.union([
      z.string(),
      z.strictObject({ id: z.string(), timestamp: z.string(), signature: z.string() }),
    ]),
  ),
  toleranceSeconds: whole(1, 86_400, DEFAULT_TOLERANCE_SECONDS),
  ackWithin: whole(1, 29_000, 20_000),
  waitUntil: z.optional(option.function<(work: Promise<unknown>) => unknown>()),
  bodyLimit: z
    .pipe(
      z._default(z.union([z.number(), z.string()]), '1mb'),
      z.transform((size: number | string) => byteSize(size) ?? NaN),
    )
    .check(
      z.refine(
        (bytes) => !Number.isNaN(bytes),
        "expected a number of bytes, or a text such as '1mb'",
      ),
    ),
  bodyTimeout: whole(1, 29_000, 5_000),
  maxInFlight: whole(1, 1_000_000, 1_000),
  maxInFlightPerTenant: z.optional(z.int().check(z.minimum(1), z.maximum(1_000_000))),
  leaseFor: whole(1, MAX_LEASE_MS, 60_000),
  storeTimeout: whole(1, 10_000, 1_000),
  now: z._default(option.function<() => number>(), () => Date.now),
});

let receiverSchema: z.ZodMiniObject<ReturnType<typeof receiverShape>, z.core.$strict> | undefined;

/**
 * Checks the options of a receiver and fills in the defaults.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function resolveSettings(options: ReceiverOptions<never, never>): Settings {
  const checked = checkAgainst((receiverSchema ??= z.strictObject(receiverShape())), options);
  checkEventNames(checked);
  checkTenants(checked);
  if (checked.queue && checked.oneAtATime)
    throw new WebhookError(
      'invalid-options',
      'oneAtATime has no effect on the workers of a queue. Leave out queue, or leave out oneAtATime and let the handlers of the workers take a lock in their transactions: pg_advisory_xact_lock, or BEGIN IMMEDIATE in SQLite.',
    );
  const {
    on,
    events,
    custom,
    includeSchemaValues,
    onUnhandled,
    deadLetter,
    headerPrefix,
    profile,
    store,
    queue,
    oneAtATime,
    secret,
    tenant,
    maxInFlightPerTenant,
    around,
    redact,
    onError,
    onOutcome,
    ...rest
  } = checked;
  return {
    ...rest,
    secret: secret as Secret | SecretProvider,
    tenant,
    maxInFlightPerTenant: maxInFlightPerTenant ?? Math.ceil(rest.maxInFlight / 10),
    handlers: {
      ...{ on, events, custom, includeSchemaValues, onUnhandled, deadLetter },
      ...{ around, redact, ...withWarnings({ onError, onOutcome }, checked.logger) },
    },
    names: headerNames(headerPrefix, profile),
    profile,
    // Only a clock that was passed in: by default leases use the monotonic clock.
    store: store ?? memoryStore({ now: options.now, logger: checked.logger }),
    queue,
    oneAtATime,
  };
}

/** @throws WebhookError `invalid-options` */
function checkTenants(options: {
  tenant?: TenantOf | undefined;
  secret?: unknown;
  maxInFlightPerTenant?: number | undefined;
}): void {
  const { tenant, secret, maxInFlightPerTenant } = options;
  if (tenant && typeof secret !== 'function')
    throw new WebhookError(
      'invalid-options',
      "secret: with tenant, expected a function that returns each tenant's own secrets: ({ tenant }) => …. One secret for all would let every tenant in everywhere.",
    );
  if (!tenant && maxInFlightPerTenant !== undefined)
    throw new WebhookError('invalid-options', 'maxInFlightPerTenant: it needs tenant.');
}
