import { isInMemory } from './dead-letters/memory-dead-letters.ts';
import { startRetention } from './dead-letters/retention.ts';
import { defined } from './defined.ts';
import { deliver, type DeliverInput, type DeliverOptions } from './deliver.ts';
import { docsUrl } from './errors.ts';
import type { ExtraEvents } from './events/handlers.ts';
import { Routes } from './events/route.ts';
import type { StandardSchema } from './events/schema.ts';
import { checkHealth, type Health } from './health.ts';
import { InFlight } from './in-flight.ts';
import { type ReceiverOptions, resolveSettings, type Settings, withoutOptions } from './options.ts';
import type { Outcome, ReceiverResponse } from './outcomes.ts';
import { receive, type ReceiverRequest } from './receive.ts';
import { callHook } from './report/hooks.ts';
import { type Logger, safeLogger } from './report/logger.ts';
import { Reporter } from './report/reporter.ts';
import type { ReceiverParts } from './run-event.ts';
import { providedKeys, type SecretProvider, TenantKeys } from './signature/secret-provider.ts';
import { fixedKeys, isSecretMissing, keysOf, LastVerified } from './signature/secrets.ts';
import { OutcomeWriter } from './store/outcome-writer.ts';
import { StoreCalls } from './store/store-calls.ts';
import type { Store, StoreWithoutCompleteIn } from './store/store.ts';
import { Deadlines, RELEASE_MS } from './time.ts';

/** Turns requests into responses. `createReceiver` creates one, and so does every adapter. */
export interface Receiver {
  /** The store that was passed in, or the `memoryStore()` that the receiver created. */
  readonly store: Store;
  /**
   * Whether the receiver was created with the option `tenant`, so that each event belongs to a tenant.
   */
  readonly hasTenants: boolean;
  /**
   * Handles one request. The promise never rejects, and every response is one of the table `OUTCOMES`.
   */
  receive(request: ReceiverRequest): Promise<ReceiverResponse>;
  /**
   * Runs a dead letter, a raw body or an event as if the service had sent it: with the same handlers,
   * keys, leases, limits and outcomes, but without signature, replay check and deadline. Pass only what
   * you trust. No adapter passes a request to this method.
   *
   * With a queue, the delivery is enqueued. A queue that already has the event drops it. To redrive a
   * queue's dead jobs, use the queue itself.
   * @throws WebhookError `invalid-options`; every other failure is an outcome
   * @example
   * const { outcome } = await receiver.deliver({ eventName: 'call:completed', callId: 'c1' });
   */
  deliver(input: DeliverInput, options?: DeliverOptions): Promise<Outcome>;
  /**
   * Checks whether deliveries can be accepted now, for a readiness probe: the store and the queue
   * answer within `storeTimeout`, the secret provider works, and fewer than `maxInFlight` deliveries
   * are being handled. The promise never rejects.
   */
  health(): Promise<Health>;
  /**
   * Stops accepting deliveries (503), waits for running handlers, releases the leases of those that
   * have not finished, stops the removal of expired dead letters, and writes the rest of the outcome
   * log. It takes at most `delayMs` plus `graceMs` plus one second, even if the store does not answer.
   * Stores and queues that you passed in stay open: close them afterwards.
   * @param options `graceMs`: milliseconds to wait for handlers, 10,000 by default. `delayMs`:
   *   milliseconds for which deliveries are still accepted after `health()` has stopped reporting `ok`,
   *   so that a load balancer can stop sending requests first; 0 by default
   */
  close(options?: { graceMs?: number; delayMs?: number }): Promise<void>;
}

/**
 * Creates a receiver, which verifies deliveries, rejects replays, recognizes duplicates, and runs your
 * handlers. Use it directly if your framework has no adapter.
 * @throws WebhookError `invalid-options` or `invalid-secret`. The message explains what to do.
 * @example
 * const receiver = createReceiver({
 *   secret: [process.env.CALL_WEBHOOK_SECRET, process.env.RECORDING_WEBHOOK_SECRET],
 *   on: { 'call:completed': async (event, { call }) => { … } },
 * });
 * const { status, headers, body } = await receiver.receive({ method, headers, body: rawBytes });
 */
export function createReceiver<
  Extra extends ExtraEvents = {},
  Custom extends StandardSchema = StandardSchema,
  S extends Store = StoreWithoutCompleteIn,
>(options: ReceiverOptions<Extra, Custom, S>): Receiver {
  const settings = resolveSettings(options as ReceiverOptions<never, never>);
  const { maxInFlight, maxInFlightPerTenant, store, storeTimeout } = settings;
  // Deno may forbid reading the environment.
  if (isInMemory(options.deadLetter)) callHook(warnInProduction, settings.logger);
  const deadlines = new Deadlines();
  // A store that was made here answers at once.
  const timeoutMs = options.store && storeTimeout;
  const inFlight = new InFlight(maxInFlight, maxInFlightPerTenant);
  const writer = writerOf(settings, deadlines, inFlight);
  const retention = startRetention(
    { 'dead letters': options.deadLetter, 'dead jobs': options.queue },
    settings,
  );
  const parts: ReceiverParts = {
    settings,
    deadlines,
    inFlight,
    routes: new Routes(settings),
    store: new StoreCalls(store, deadlines, timeoutMs),
    reporter: new Reporter(settings, writer),
    keysFor: keysOfRequests(settings, deadlines),
  };
  return {
    store,
    hasTenants: options.tenant !== undefined,
    receive: (request) => receive(request, parts),
    deliver: (input, deliverOptions = {}) => deliver(input, deliverOptions, parts),
    health: () => checkHealth(parts, options.deadLetter),
    async close({ graceMs = 10_000, delayMs = 0 } = {}) {
      const endsAt = performance.now() + delayMs + graceMs + RELEASE_MS;
      const removalEnds = retention?.close();
      await inFlight.close(graceMs, delayMs);
      await removalEnds;
      await writer?.close(Math.min(storeTimeout, endsAt - performance.now()));
    },
  };
}

/** A user's store may have a property `log` that is something else. */
function writerOf(
  { store, log, logger, redact, now, storeTimeout: timeoutMs, ackWithin, version }: Settings,
  deadlines: Deadlines,
  inFlight: InFlight,
): OutcomeWriter | undefined {
  if (log === false || typeof store.log?.append !== 'function') return undefined;
  const described = { ackWithin, ...defined({ version }) };
  return new OutcomeWriter(store.log, {
    ...{ logger, redact, now, deadlines, timeoutMs },
    describe: () => ({
      inFlight: inFlight.size,
      ...described,
      ...defined({ rememberFor: store.rememberFor }),
    }),
  });
}

/** Events that it acknowledges are lost at the next deployment. */
function warnInProduction(logger: Logger): void {
  const { process } = globalThis as { process?: NodeJS.Process }; // Workers have none
  if (process?.env['NODE_ENV'] !== 'production') return;
  safeLogger(logger).warn(
    { docs: docsUrl('failures.md#events-that-always-fail') },
    'call-webhooks: memoryDeadLetters() loses acknowledged events when the process ends. In production, pass sqliteDeadLetters, postgresDeadLetters, mysqlDeadLetters or redisDeadLetters as deadLetter.',
  );
}

/** @throws WebhookError `invalid-secret`, at once, if fixed secrets are invalid */
function keysOfRequests(settings: Settings, deadlines: Deadlines): ReceiverParts['keysFor'] {
  const { secret, tenant, redact } = settings;
  const log = { logger: safeLogger(settings.logger), redact };
  if (tenant) {
    const tenants = new TenantKeys(tenant, secret as SecretProvider, deadlines, log);
    return (request) => tenants.of(request);
  }
  const isProvider = typeof secret === 'function';
  const keySource = isProvider
    ? providedKeys(secret, deadlines, log)
    : { ...fixedKeys(secret), verified: new LastVerified() };
  const own = { keySource };
  return () => own;
}

/** A provider that rejects with what is wrong with a secret. */
const fail = (secret: unknown) => async () => {
  await keysOf(secret);
  return undefined;
};

/**
 * Creates a receiver when it is first needed. For adapters of hosts that import an app while building
 * it (Next, SvelteKit), when secrets are often not set.
 *
 * If a secret is still missing when the first delivery arrives, the delivery is answered with 503
 * `secret-unavailable`, which is logged, and the service sends the event again.
 * @returns a function that returns the receiver. It throws a WebhookError, `invalid-options` or
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
    return (receiver = createReceiver(
      isSecretMissing(secret) ? { ...withoutOptions(options), secret: fail(secret) } : options,
    ));
  };
}
