import { systemClock, type Clock } from '@call-webhooks/client';

const TIMEOUT = 30_000;

/** A clock for the client that does not wait. It records each pause and advances by it. */
export interface InstantClock extends Clock {
  /** The pauses so far; milliseconds. */
  readonly pauses: number[];
}

/** @param during runs in each pause, which ends when it has finished */
export function instantClock(
  during: (pause: number) => unknown = () => undefined,
  startAt = Date.now(),
): InstantClock {
  const pauses: number[] = [];
  let now = startAt;
  return {
    pauses,
    now: () => now,
    schedule(delay, callback) {
      // The client's default timeout stays real, so that a hanging test ends.
      if (delay === TIMEOUT) return systemClock.schedule(delay, callback);
      let cancelled = false;
      pauses.push(delay);
      void Promise.resolve(during(delay)).then(() => {
        now += delay;
        if (!cancelled) callback();
      });
      return () => {
        cancelled = true;
      };
    },
  };
}
