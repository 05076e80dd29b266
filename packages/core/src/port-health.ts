import { describeError } from './report/error-text.ts';

/** Whether a store, a queue, a dead-letter store or a secret provider answers. */
export interface PortHealth {
  /** `up`, `down`, or `unknown` if it has no `ping`. */
  status: 'up' | 'down' | 'unknown';
  /** Milliseconds until the answer. */
  durationMs: number;
  /** Why it is down. The text contains no secret and nothing from a body. */
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
