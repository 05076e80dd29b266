/** A number of requests per `every` milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly every: number;
}

/**
 * Counts requests in fixed windows.
 * @returns a function that counts a request and returns 0, or the seconds until the next window
 */
export function rateLimiter({ requests, every }: RateLimit, now: () => number): () => number {
  let windowEnds = -Infinity;
  let counted = 0;
  return () => {
    if (now() >= windowEnds) {
      windowEnds = now() + every;
      counted = 0;
    }
    counted++;
    return counted <= requests ? 0 : Math.max(1, Math.ceil((windowEnds - now()) / 1_000));
  };
}
