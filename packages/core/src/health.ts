import type { DeadLetterSink, DeadLetterStore } from './dead-letters/dead-letter.ts';
import type { UnknownFields } from './events/field-check.ts';
import { healthOf, type PortHealth } from './port-health.ts';
import type { ReceiverParts } from './run-event.ts';
import type { Store } from './store/store.ts';

/** The result of `receiver.health()`, which a readiness probe can use. */
export interface Health {
  /**
   * `true` if a delivery would be accepted now, as far as the receiver knows: it is not closing, it is
   * not overloaded, and the store, the queue and the secret provider answer.
   */
  ok: boolean;
  /**
   * `true` once `close()` has been called: deliveries are answered with 503, or will be after
   * `delayMs`.
   */
  closing: boolean;
  /** Whether the store answers within `storeTimeout`. */
  store: PortHealth;
  /** Whether the queue answers within `storeTimeout`. It is absent without the option `queue`. */
  queue?: PortHealth;
  /**
   * Whether the dead-letter store can store a letter. `ok` does not depend on it, since only failing
   * deliveries need it. It is absent without `deadLetter`, and if `deadLetter` is a function.
   */
  deadLetter?: PortHealth;
  /**
   * Whether the secret provider works. `down` means that it failed and that no secrets are cached. It
   * is absent without a provider, and in a receiver with tenants.
   */
  secrets?: PortHealth;
  /**
   * The ids of the configured secrets, in their order. It is absent in a receiver with tenants, and
   * while the secret provider is down.
   */
  secretIds?: string[];
  /**
   * The call events with details that were never found, because a field is missing or has another type,
   * so that `context.call` is incomplete. Set `fieldNames` to correct this. It is absent if there are
   * none.
   */
  unknownFields?: UnknownFields[];
  /**
   * `true` while `maxInFlight` deliveries are being handled, so that further ones are answered with
   * 503. Otherwise it is absent.
   */
  overloaded?: true;
}

/**
 * Pings store, queue and dead letters at the same time, each within `storeTimeout`, and asks the secret
 * provider if it has not returned any secrets yet. Never rejects.
 */
export async function checkHealth(
  parts: ReceiverParts,
  deadLetter: DeadLetterSink | DeadLetterStore | undefined,
): Promise<Health> {
  const { settings, deadlines, inFlight, routes } = parts;
  const { draining: closing, full } = inFlight;
  const { store, queue, secret, tenant, storeTimeout } = settings;
  const ping = (port: Pick<Store, 'ping'>) =>
    port.ping
      ? healthOf(async () => deadlines.withTimeout(storeTimeout, Promise.resolve(port.ping?.())))
      : ({ status: 'unknown', durationMs: 0 } as const);
  const hasProvider = typeof secret === 'function';
  let secretIds: string[] | undefined;
  const askSecrets = async () => {
    const keys = await parts.keysFor({ headers: {} }).keySource.current('health-check');
    secretIds = [...new Set(keys.map(({ id }) => id))];
  };
  const [storeHealth, queueHealth, letterHealth, secretsHealth] = await Promise.all([
    ping(store),
    queue && ping(queue),
    typeof deadLetter === 'object' ? ping(deadLetter) : undefined,
    // Each tenant has its own secrets, so there is no single one to ask for.
    tenant ? undefined : healthOf(askSecrets),
  ]);
  const unknownFields = routes.fieldCheck.unknown;
  // Not the dead letters: while they are down, deliveries whose handler succeeds are accepted, and a load
  // balancer that takes every process out would let all of them fail.
  const asked = [storeHealth, queueHealth, secretsHealth];
  return {
    ok: !closing && !full && asked.every((part) => !part || part.status !== 'down'),
    closing,
    store: storeHealth,
    ...(queueHealth && { queue: queueHealth }),
    ...(letterHealth && { deadLetter: letterHealth }),
    ...(hasProvider && secretsHealth && { secrets: secretsHealth }),
    ...(secretIds && { secretIds }),
    ...(unknownFields.length > 0 && { unknownFields }),
    ...(full && { overloaded: true }),
  };
}
