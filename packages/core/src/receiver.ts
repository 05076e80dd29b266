import { sharesTimers } from '#hmac';
import { createDeliver, type DeliverInput, type DeliverOptions } from './deliver.ts';
import type { ExtraEvents } from './events/handlers.ts';
import { Routes } from './events/route.ts';
import type { StandardSchema } from './events/schema.ts';
import type { TenantRequest } from './http/request.ts';
import { ConcurrencyLimiter } from './in-flight.ts';
import { type ReceiverOptions, resolveSettings, type Settings } from './options.ts';
import type { Outcome, ReceiverResponse } from './outcomes.ts';
import type { Queue } from './queue.ts';
import { createReceive, type ReceiverRequest } from './receive.ts';
import { describeError } from './report/error-text.ts';
import { safeLogger } from './report/logger.ts';
import { Reporter } from './report/reporter.ts';
import { GroupTurns, type ProcessorDependencies } from './run-event.ts';
import { keySource, type SecretProvider } from './signature/secret-provider.ts';
import { type KeySource, secretBytes } from './signature/secrets.ts';
import { type NamedTenant, safeTenantOf, TenantKeys } from './signature/tenants.ts';
import { boundedStore } from './store/lease.ts';
import type { Store, StoreWithoutCompleteIn } from './store/store.ts';
import { DeadlineScheduler, TimerPerDeadline } from './time.ts';

/** Turns requests into responses. Created by `createReceiver`, and inside every adapter. */
export interface Receiver {
  /** The store that it was given, or the `memoryStore()` that it created. */
  readonly store: Store;
  /** Handles one request. Never rejects, and responds only with outcomes of the table `OUTCOMES`. */
  receive(request: ReceiverRequest): Promise<ReceiverResponse>;
  /**
   * Runs a dead letter, a raw body or an event as if the service had sent it: with the same handlers,
   * keys, leases, limits and outcomes, but without signature, replay check and deadline. For what you
   * trust only: no adapter passes a request on to it.
   *
   * With a queue, the delivery is enqueued, and a queue that has the event already drops it: redrive
   * the dead jobs of a queue with the queue itself.
   * @throws WebhookError `invalid-options`; every other failure is an outcome
   * @example
   * const { outcome } = await receiver.deliver({ eventName: 'call:completed', callId: 'c1' });
   */
  deliver(input: DeliverInput, options?: DeliverOptions): Promise<Outcome>;
  /**
   * Whether deliveries can be accepted now, for a readiness probe: store and queue answer within
   * `storeTimeout`, the secret provider works, and fewer than `maxInFlight` are running. Never rejects.
   */
  health(): Promise<Health>;
  /**
   * Stops accepting deliveries (503), waits for running handlers, and releases the leases of
   * unfinished ones. It ends within `graceMs` and one second, even if the store does not answer.
   * Stores and queues that were passed in stay open: close them afterwards.
   * @param options.graceMs milliseconds to wait for handlers; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Creates a receiver: it verifies deliveries, rejects replays and duplicates, and runs the handlers.
 * @throws WebhookError `invalid-options` or `invalid-secret`, with the fix in the message
 * @example
 * const receiver = createReceiver({
 *   secret: process.env.CALL_WEBHOOK_SECRET,
 *   on: { 'call:completed': async (event, { call }) => { … } },
 * });
 * const { status, headers, body } = await receiver.receive({ method, headers, body: rawBytes });
 */
export function createReceiver<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): Receiver {
  const parts = createParts(resolveSettings(options as ReceiverOptions<never, never>));
  const { settings, scheduler, keys, limiter, deps } = parts;
  return {
    store: settings.store,
    receive: createReceive(parts),
    deliver: createDeliver(parts),
    health: () =>
      checkHealth(
        {
          store: settings.store,
          queue: settings.queue,
          // Each tenant has secrets of its own: nobody knows which to ask for.
          keys: typeof settings.secret === 'function' && !settings.tenant ? keys : undefined,
          closing: limiter.closing,
          full: limiter.full,
        },
        settings.storeTimeout,
        scheduler,
      ),
    async close({ graceMs = 10_000 } = {}) {
      deps.turns?.close();
      await limiter.close(graceMs);
    },
  };
}

/** What the methods of a receiver share. */
export interface ReceiverParts {
  readonly settings: Settings;
  readonly scheduler: DeadlineScheduler;
  /** With tenants, they are nobody's: each tenant has keys of its own. */
  readonly keys: KeySource;
  /** Only with the option `tenant`. */
  readonly tenants?: Tenants | undefined;
  readonly limiter: ConcurrencyLimiter;
  readonly reporter: Reporter;
  readonly deps: ProcessorDependencies;
}

/** Names the tenant of each request, and has their keys. */
export interface Tenants {
  readonly nameOf: (request: TenantRequest) => NamedTenant;
  readonly keys: TenantKeys;
}

export function createParts(settings: Settings): ReceiverParts {
  const { handlers, oneAtATime, ackWithin, storeTimeout, maxAttempts } = settings;
  const scheduler = sharesTimers ? new DeadlineScheduler() : new TimerPerDeadline();
  return {
    settings,
    scheduler,
    ...keysOf(settings, scheduler),
    limiter: new ConcurrencyLimiter(settings.maxInFlight, settings.maxInFlightPerTenant),
    reporter: new Reporter(handlers, { redact: handlers.redact, maxAttempts }),
    deps: {
      settings,
      scheduler,
      turns: oneAtATime && new GroupTurns({ scheduler, ackWithin, wakes: sharesTimers }),
      routes: new Routes(handlers, settings.fieldNames),
      store: boundedStore(settings.store, storeTimeout, scheduler),
    },
  };
}

function keysOf(
  { secret, tenant, logger, handlers: { redact } }: Settings,
  scheduler: DeadlineScheduler,
): Pick<ReceiverParts, 'keys' | 'tenants'> {
  const log = safeLogger(logger);
  if (!tenant) return { keys: keySource(secret, scheduler, log, redact) };
  const keys = new TenantKeys(secret as SecretProvider, scheduler, log, redact);
  return { keys: keys.of({}), tenants: { nameOf: safeTenantOf(tenant), keys } };
}

/** Whether a receiver's store, queue or secret provider answers. */
export interface PortHealth {
  /** `unknown`: it has no `ping`. */
  status: 'up' | 'down' | 'unknown';
  /** How long its answer took; milliseconds. */
  durationMs: number;
  /** Why it is down. Contains no secret and nothing from a body. */
  error?: string;
}

/** The result of `receiver.health()`, made for a readiness probe. */
export interface Health {
  /** `true` if nothing is known that would keep a delivery from being accepted now. */
  ok: boolean;
  /** `true` once `close()` was called: deliveries are answered 503. */
  closing: boolean;
  store: PortHealth;
  /** Absent without a queue. */
  queue?: PortHealth;
  /** Absent without a secret provider, and with tenants. `down`: it failed, and no secrets are cached. */
  secrets?: PortHealth;
  /** Set while `maxInFlight` deliveries are being handled: further ones are answered 503. */
  overloaded?: true;
}

/** What `checkHealth` looks at. */
export interface HealthTargets {
  readonly store: Store;
  readonly queue: Queue | undefined;
  /** The keys of a secret provider. */
  readonly keys: KeySource | undefined;
  readonly closing: boolean;
  readonly full: boolean;
}

/**
 * Pings store and queue at the same time, each for at most `timeoutMs`, and asks a secret provider
 * that has given no secrets yet. Never rejects.
 */
export async function checkHealth(
  { store, queue, keys, closing, full }: HealthTargets,
  timeoutMs: number,
  scheduler: DeadlineScheduler,
): Promise<Health> {
  const ping = (port: Pick<Store, 'ping'>) =>
    port.ping
      ? healthOf(() => scheduler.withTimeout(timeoutMs, port.ping?.() as Promise<unknown>))
      : ({ status: 'unknown', durationMs: 0 } as const);
  const [storeHealth, queueHealth, secretsHealth] = await Promise.all([
    ping(store),
    queue && ping(queue),
    keys && healthOf(async () => keys.keys('health-check')), // a provider has a timeout of its own
  ]);
  const parts = [storeHealth, queueHealth, secretsHealth];
  return {
    ok: !closing && !full && parts.every((part) => part?.status !== 'down'),
    closing,
    store: storeHealth,
    ...(queueHealth && { queue: queueHealth }),
    ...(secretsHealth && { secrets: secretsHealth }),
    ...(full && { overloaded: true }),
  };
}

async function healthOf(check: () => Promise<unknown>): Promise<PortHealth> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    await check();
    return { status: 'up', durationMs: took() };
  } catch (error) {
    return { status: 'down', durationMs: took(), error: describeError(error) };
  }
}

/** A provider that says what is wrong with a secret. */
const fail = (secret: unknown) => () => {
  secretBytes(secret);
  return undefined;
};

/**
 * Creates a receiver when it is first needed. For adapters of hosts that import an app while they
 * build it (Next, SvelteKit): secrets are often not set then.
 *
 * A secret that is still missing at the first delivery is answered 503 `secret-unavailable`, and
 * logged, so the service sends the event again.
 * @returns a function that returns the receiver. It throws WebhookError `invalid-options` or
 *   `invalid-secret`, but not for a missing secret.
 */
export function createReceiverOnFirstUse<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): () => Receiver {
  let receiver: Receiver | undefined;
  return () => {
    if (receiver) return receiver;
    const { secret } = options;
    const isMissing = secret === undefined || secret === '';
    return (receiver = createReceiver(isMissing ? { ...options, secret: fail(secret) } : options));
  };
}
