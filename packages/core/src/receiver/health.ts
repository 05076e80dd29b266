import type { Queue } from '../queue.ts';
import { describeError } from '../redact/error-text.ts';
import type { KeySource } from '../signature/secrets.ts';
import type { Store } from '../store/store.ts';
import type { DeadlineScheduler } from '../time/deadline-scheduler.ts';

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
