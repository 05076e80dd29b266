/** How long to wait between two attempts of a job. */
export interface BackoffOptions {
  /** Milliseconds until the second attempt. */
  initialDelay?: number | undefined;
  /** The longest wait between two attempts; milliseconds. */
  maxDelay?: number | undefined;
}

/**
 * Exponential backoff: the delay doubles after each attempt, up to a limit. It varies by 10 % either
 * way, so that jobs which failed together are retried apart.
 * @param random from 0 to 1
 * @returns the delay after an attempt, in milliseconds; the first attempt is 1
 */
export function exponentialBackoff(
  options: Required<Record<keyof BackoffOptions, number>>,
  random: () => number = Math.random,
): (attempt: number) => number {
  const { initialDelay, maxDelay } = options;
  return (attempt) =>
    Math.min(maxDelay, initialDelay * 2 ** Math.min(50, attempt - 1)) * (0.9 + 0.2 * random());
}
