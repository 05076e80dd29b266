import { describeError } from '../privacy/scrub.ts';
import type { Queue } from '../queue/queue.ts';
import type { Store } from '../store/store.ts';
import type { Watch } from '../time/watch.ts';

/** Whether one of a receiver's two helpers answers. */
export interface PortHealth {
  /** `unknown`: it has no `ping`. */
  status: 'up' | 'down' | 'unknown';
  /** How long its answer took; milliseconds. */
  durationMs: number;
  /** Why it is down. Holds no secret and nothing of a body. */
  error?: string;
}

/** What `receiver.health()` says: made for a readiness probe. */
export interface Health {
  /** `true`: nothing that is known keeps a delivery from being taken now. */
  ok: boolean;
  /** `true` once `close()` was called: deliveries are answered 503. */
  closing: boolean;
  store: PortHealth;
  /** Absent without a queue. */
  queue?: PortHealth;
}

/** Asks store and queue at once, each for `timeoutMs` at most. Never rejects. */
export async function healthOf(
  { store, queue, closing }: { store: Store; queue: Queue | undefined; closing: boolean },
  timeoutMs: number,
  watch: Watch,
): Promise<Health> {
  const [storeHealth, queueHealth] = await Promise.all([
    portHealth(store, timeoutMs, watch),
    queue && portHealth(queue, timeoutMs, watch),
  ]);
  return {
    ok: !closing && storeHealth.status !== 'down' && queueHealth?.status !== 'down',
    closing,
    store: storeHealth,
    ...(queueHealth && { queue: queueHealth }),
  };
}

async function portHealth(
  port: Pick<Store, 'ping'>,
  timeoutMs: number,
  watch: Watch,
): Promise<PortHealth> {
  if (!port.ping) return { status: 'unknown', durationMs: 0 };
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    await watch.within(timeoutMs, port.ping());
    return { status: 'up', durationMs: took() };
  } catch (error) {
    return { status: 'down', durationMs: took(), error: describeError(error) };
  }
}
