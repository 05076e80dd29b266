import type { ExtraEvents } from '../dispatch/handlers.ts';
import type { StandardSchema } from '../events/schema.ts';
import type { Outcome, ReceiverResponse } from '../outcome/response.ts';
import type { Store, StoreWithoutCompleteIn } from '../store/store.ts';
import { createDeliver, type DeliverOptions } from './deliver.ts';
import { checkHealth, type Health } from './health.ts';
import type { ReceiverOptions } from './options.ts';
import { createParts } from './parts.ts';
import { createReceive, type ReceiverRequest } from './receive.ts';
import { resolveSettings } from './settings.ts';
import type { DeliverInput } from './trusted-delivery.ts';

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
