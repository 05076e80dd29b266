import type { Queue } from '../queue.ts';
import { describeError } from '../redact.ts';
import type { Store } from '../store/store.ts';
import type { DeadlineScheduler } from '../time/deadline-scheduler.ts';

/** Whether a receiver's store or queue answers. */
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
}

/** Pings store and queue at the same time, each for at most `timeoutMs`. Never rejects. */
export async function checkHealth(
  { store, queue, closing }: { store: Store; queue: Queue | undefined; closing: boolean },
  timeoutMs: number,
  scheduler: DeadlineScheduler,
): Promise<Health> {
  const [storeHealth, queueHealth] = await Promise.all([
    portHealth(store, timeoutMs, scheduler),
    queue && portHealth(queue, timeoutMs, scheduler),
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
  scheduler: DeadlineScheduler,
): Promise<PortHealth> {
  if (!port.ping) return { status: 'unknown', durationMs: 0 };
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    await scheduler.withTimeout(timeoutMs, port.ping());
    return { status: 'up', durationMs: took() };
  } catch (error) {
    return { status: 'down', durationMs: took(), error: describeError(error) };
  }
}
