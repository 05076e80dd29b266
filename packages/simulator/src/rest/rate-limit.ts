/** So many requests in so long a time; milliseconds. */
export interface RateLimit {
  readonly requests: number;
  readonly every: number;
}

/**
 * Counts requests in windows of a fixed length.
 * @returns 0 while there is room, else the seconds until there is some again
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
