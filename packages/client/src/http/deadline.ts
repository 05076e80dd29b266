import type { Clock } from '../clock.ts';
import { TimeoutError, type TimeoutPhase } from '../errors/index.ts';
import { orAbort } from './abort.ts';

/** Joins the caller's signal with a limit on every single wait. */
export interface Deadline {
  /** Aborted by the caller's signal, or with a TimeoutError. */
  readonly signal: AbortSignal;
  /** Runs one step of a request; the limit applies to it alone, not to the pauses between steps. */
  run<T>(phase: TimeoutPhase, step: () => Promise<T>): Promise<T>;
  /** Lets go of the caller's signal. */
  close(): void;
}

/** Makes the deadline of one try. `timeout` is in milliseconds. */
export function createDeadline(
  clock: Clock,
  timeout: number,
  request: string,
  caller: AbortSignal | undefined,
): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const follow = (): void => controller.abort(caller?.reason);
  if (caller?.aborted) follow();
  caller?.addEventListener('abort', follow, { once: true });
  return {
    signal,
    async run(phase, step) {
      signal.throwIfAborted();
      const cancel = clock.schedule(timeout, () =>
        controller.abort(new TimeoutError(request, phase, timeout)),
      );
      try {
        return await orAbort(step(), signal);
      } catch (error) {
        // What fetch throws after an abort differs between runtimes; the reason does not.
        signal.throwIfAborted();
        throw error;
      } finally {
        cancel();
      }
    },
    close: () => caller?.removeEventListener('abort', follow),
  };
}
