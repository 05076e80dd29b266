import * as v from 'valibot';
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
  v.custom<never>(
    (value: unknown) =>
      (typeof value === 'object' || typeof value === 'function') &&
      value !== null &&
      '~standard' in value,
    'expected a schema (zod, valibot, arktype or another Standard Schema)',
  );
const aSink = () =>
  v.pipe(
    v.custom<DeadLetterSink | DeadLetterStore>(
      (value: unknown) =>
        isFunction(value) || isFunction(Reflect.get(Object(value) as object, 'put')),
      'expected a function, or a store of dead letters',
    ),
    v.transform((given): DeadLetterSink =>
      typeof given === 'function' ? given : (letter) => given.put(letter),
    ),
  );
const aSize = () =>
  v.pipe(
    v.custom<number | string>(
      (value: unknown) => byteSize(value) !== undefined,
      "expected a number of bytes, or a text such as '1mb'",
    ),
    v.transform((size) => byteSize(size) as number),
  );
const whole = (min: number, max: number, byDefault: number) =>
  option.default(option.count(min, max), byDefault);
const text = () => v.optional(option.string());

// Schemas are built when they are first needed.

/** The options that a receiver and a queue's worker share. */
export const handlerShape = () => ({
  on: v.optional(option.record(v.optional(aFunction()))),
  events: v.optional(option.record(aSchema())),
  custom: v.optional(
    v.strictObject({
      schema: v.optional(aSchema()),
      key: v.optional(aFunction()),
      handle: aFunction(),
    }),
  ),
  includeSchemaValues: v.optional(option.boolean()),
  onUnhandled: v.optional(aFunction()),
  deadLetter: v.optional(aSink()),
  around: v.optional(
    v.union([aFunction(), v.array(aFunction())], 'expected a function or a list of functions'),
  ),
  redact: v.optional(
    v.union(
      [v.picklist(['standard', 'strict', 'off']), aFunction()],
      "expected 'standard', 'strict', 'off' or a function",
    ),
  ),
  onError: v.optional(aFunction()),
  onOutcome: v.optional(aFunction()),
  fieldNames: v.optional(
    v.strictObject({
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
  maxAttempts: whole(1, 1_000, 3),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

const receiverShape = () => ({
  ...handlerShape(),
  secret: v.optional(v.unknown()),
  tenant: v.optional(option.function<TenantOf>()),
  profile: v.optional(v.literal('standard-webhooks', "expected 'standard-webhooks'")),
  store: v.optional(option.object<Store>('admit', 'complete', 'release', 'extend')),
  queue: v.optional(option.object<Queue>('enqueue')),
  oneAtATime: v.optional(
    v.union([v.literal(true), option.function<OneAtATime>()], 'expected true or a function'),
  ),
  headerPrefix: v.optional(
    v.union(
      [
        v.string(),
        v.strictObject({ id: v.string(), timestamp: v.string(), signature: v.string() }),
      ],
      "expected a prefix such as 'X-Service', or { id, timestamp, signature }",
    ),
  ),
  toleranceSeconds: whole(1, 86_400, DEFAULT_TOLERANCE_SECONDS),
  ackWithin: whole(1, 29_000, 20_000),
  waitUntil: v.optional(option.function<(work: Promise<unknown>) => unknown>()),
  bodyLimit: v.optional(aSize(), '1mb'),
  bodyTimeout: whole(1, 29_000, 5_000),
  maxInFlight: whole(1, 1_000_000, 1_000),
  maxInFlightPerTenant: v.optional(option.count(1, 1_000_000)),
  leaseFor: whole(1, MAX_LEASE_MS, 60_000),
  storeTimeout: whole(1, 10_000, 1_000),
  now: option.default(option.function<() => number>(), () => Date.now),
});

let receiverSchema: v.StrictObjectSchema<ReturnType<typeof receiverShape>, undefined> | undefined;

/**
 * Checks the options of a receiver and fills in the defaults.
 * @throws WebhookError `invalid-options`, which names every invalid option
 */
export function resolveSettings(options: ReceiverOptions<never, never>): Settings {
  const checked = checkAgainst((receiverSchema ??= v.strictObject(receiverShape())), options);
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
