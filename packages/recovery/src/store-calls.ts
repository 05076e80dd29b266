import type { Clock } from '@call-webhooks/client';
import { WebhookError } from '@call-webhooks/core';
import { callHook } from '@call-webhooks/core/internal';

/** How often a failed call is retried. With its pauses, that is about half a minute: a failover takes a while. */
const MAX_RETRIES = 10;
/** The first pause; each later one is longer by as much. Milliseconds. */
const PAUSE_MS = 500;
/** How long a store may take for one call; milliseconds. */
const CALL_MS = 10_000;

/** A call of a store that has failed and will be retried: what `onRetry` gets. */
export interface StoreRetry {
  /** The error of the store, or one that says that the store did not answer within 10 seconds. */
  error: unknown;
  /** How many times this call has failed, 1 to 10. */
  failures: number;
  /** The pause before the call is retried, in milliseconds. */
  pauseMs: number;
}

/** How calls of a store are retried. */
export interface Persistence {
  readonly clock: Clock;
  /** When it is aborted, a pause ends, the call is made once more, and then not retried. */
  readonly signal?: AbortSignal | undefined;
  /** Called when a call has failed and will be retried. Errors it throws are ignored. */
  readonly onRetry?: ((retry: StoreRetry) => unknown) | undefined;
}

/**
 * Calls a store, and again while it fails or does not respond: up to 10 times more, after 0.5, 1, 1.5 and
 * so on up to 5 seconds. Every call of a store may be repeated, since its token makes it the same call.
 * @param what names the call: `'claim() of the store of dead letters'`
 * @throws what the last call failed with; at once for `invalid-options` and `invalid-cursor`, which no retry mends
 */
export async function persistently<T>(
  what: string,
  call: () => Promise<T>,
  persistence: Persistence,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    try {
      return await inTime(what, call, CALL_MS, persistence.clock);
    } catch (error) {
      if (isRefusal(error) || !(await waitToRepeat(failures, error, persistence))) throw error;
    }
  }
}

/** The store refuses what it was given, so it would do so again. */
const isRefusal = (error: unknown) =>
  error instanceof WebhookError &&
  (error.code === 'invalid-options' || error.code === 'invalid-cursor');

/**
 * Gives a receiver an event, and again while it can take none for now: as often as `persistently`.
 * @param problemOf the error of an outcome that may soon be another one; `undefined` for all others
 * @returns the last outcome
 */
export async function untilTaken<Delivered>(
  deliver: () => Promise<Delivered>,
  problemOf: (delivered: Delivered) => unknown,
  persistence: Persistence,
): Promise<Delivered> {
  for (let failures = 1; ; failures++) {
    const delivered = await deliver();
    const problem = problemOf(delivered);
    if (problem === undefined || !(await waitToRepeat(failures, problem, persistence)))
      return delivered;
  }
}

/** @returns `false` if the call failed after all retries, or was aborted */
async function waitToRepeat(
  failures: number,
  error: unknown,
  { clock, signal, onRetry }: Persistence,
): Promise<boolean> {
  if (failures > MAX_RETRIES || signal?.aborted) return false;
  const pauseMs = PAUSE_MS * failures;
  if (onRetry) callHook(onRetry, { error, failures, pauseMs });
  await pause(pauseMs, clock, signal);
  return true;
}

/**
 * The result of a call, if it comes in time. One that comes later is dropped.
 * @param what begins the message of the error
 * @param ms milliseconds
 */
export async function inTime<T>(
  what: string,
  call: () => Promise<T>,
  ms: number,
  clock: Clock,
): Promise<T> {
  let cancel: (() => void) | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const problem = `${what} did not end within ${String(Math.round(ms))} ms.`;
    cancel = clock.schedule(ms, () => reject(new Error(problem)));
  });
  try {
    return await Promise.race([call(), limit]);
  } finally {
    cancel?.();
  }
}

/** Waits, or less if the signal is aborted. */
async function pause(ms: number, clock: Clock, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return;
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(ms, end);
    signal?.addEventListener('abort', end);
  });
}
