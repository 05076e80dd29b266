import type { ExtraEvents } from '../dispatch/handlers.ts';
import type { StandardSchema } from '../events/schema.ts';
import { secretBytes } from '../signature/secrets.ts';
import type { Store, StoreWithoutCompleteIn } from '../store/store.ts';
import type { ReceiverOptions } from './options.ts';
import { createReceiver, type Receiver } from './receiver.ts';

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
