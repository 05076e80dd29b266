import { environmentError } from '../errors.ts';

/** How long a server may take until its store is open, and how long to close it; milliseconds. */
export const OPEN_WITHIN_MS = 10_000;
const CLOSE_WITHIN_MS = 2_000;
/** How long it may take for each answer, once the store is open. */
const ANSWER_WITHIN_MS = 30_000;

/**
 * The result of some work with a server, unless somebody stops it, or the server takes too long.
 * @param signal stops the waiting; the work goes on
 * @param ms the longest wait; without it there is no limit
 * @throws CliError 3 when the time is over; the signal's reason
 */
export async function within<T>(work: Promise<T>, signal?: AbortSignal, ms?: number): Promise<T> {
  const { promise: ended, reject } = promiseWithReject();
  const stop = () => {
    reject(signal?.reason as Error);
  };
  if (signal?.aborted) stop();
  signal?.addEventListener('abort', stop);
  const timer = ms && setTimeout(() => reject(noAnswer(ms)), ms);
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

function promiseWithReject(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, given) => {
    reject = given;
  });
  return { promise, reject };
}

const noAnswer = (ms: number) =>
  environmentError(
    `The store's server did not respond within ${String(ms / 1_000)} s.`,
    'Check the host and the port in the URL, the firewall, and whether the server is stopped or overloaded. If the server uses TLS, use rediss:// or sslmode=require.',
  );

/** Closes a store. A server that does not answer is not waited for. */
export const closeInTime = async (close: () => Promise<unknown>): Promise<void> => {
  await within(close(), undefined, CLOSE_WITHIN_MS).catch(() => undefined);
};

/** The same object, but its methods and those of its parts reject when the server does not answer. */
export const answeringInTime = <T extends object>(given: T): T =>
  new Proxy(given, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value === 'object' && value !== null) return answeringInTime(value);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, args);
        return result instanceof Promise ? within(result, undefined, ANSWER_WITHIN_MS) : result;
      };
    },
  });
