import { describeError } from './report/error-text.ts';

/** Whether the store, the queue or the secret provider of a receiver or a worker answers. */
export interface PortHealth {
  /** `unknown`: it has no `ping`. */
  status: 'up' | 'down' | 'unknown';
  /** How long its answer took; milliseconds. */
  durationMs: number;
  /** Why it is down. Contains no secret and nothing from a body. */
  error?: string;
}

/** Whether a check resolves. Never rejects. */
export async function healthOf(check: () => Promise<unknown>): Promise<PortHealth> {
  const startedAt = performance.now();
  try {
    await check();
    return { status: 'up', durationMs: performance.now() - startedAt };
  } catch (error) {
    const durationMs = performance.now() - startedAt;
    return { status: 'down', durationMs, error: describeError(error) };
  }
}
