import type { DeadLetterSink, DeadLetterStore } from './dead-letters/dead-letter.ts';
import type { UnknownFields } from './events/field-check.ts';
import { healthOf, type PortHealth } from './port-health.ts';
import type { ReceiverParts } from './run-event.ts';
import type { Store } from './store/store.ts';

/** The result of `receiver.health()`, made for a readiness probe. */
export interface Health {
  /** `true` if nothing is known that would keep a delivery from being accepted now. */
  ok: boolean;
  /** `true` once `close()` was called: deliveries are answered 503, or soon will be. */
  closing: boolean;
  store: PortHealth;
  /** Absent without a queue. */
  queue?: PortHealth;
  /**
   * Where dead letters are kept; `ok` does not depend on it, since only deliveries that fail need it.
   * Absent without `deadLetter`, or if that is a function.
   */
  deadLetter?: PortHealth;
  /** Absent without a secret provider, and with tenants. `down`: it failed, and no secrets are cached. */
  secrets?: PortHealth;
  /**
   * The ids of the configured secrets, in their order. Absent with tenants, and while a secret
   * provider is down.
   */
  secretIds?: string[];
  /**
   * Call events whose details were never found, so that `context.call` lacks them: `fieldNames` has to
   * be set. Absent if there are none.
   */
  unknownFields?: UnknownFields[];
  /** Set while `maxInFlight` deliveries are being handled: further ones are answered 503. */
  overloaded?: true;
}

/**
 * Pings store, queue and dead letters at the same time, each within `storeTimeout`, and asks a secret
 * provider that has given no secrets yet. Never rejects.
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
    // Each tenant has secrets of its own: nobody knows which to ask for.
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
