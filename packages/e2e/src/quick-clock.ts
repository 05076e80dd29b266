import { systemClock, type Clock } from '@call-webhooks/client';

const TIMEOUT = 30_000;

/** A client's clock that does not wait: pauses are written down, and time passes by them. */
export interface QuickClock extends Clock {
  /** The pauses so far, in milliseconds. */
  readonly pauses: number[];
}

/** @param during what happens in each pause; the pause ends when it has happened */
export function quickClock(
  during: (pause: number) => unknown = () => undefined,
  startAt = Date.now(),
): QuickClock {
  const pauses: number[] = [];
  let now = startAt;
  return {
    pauses,
    now: () => now,
    schedule(delay, callback) {
      // The default timeout of the client: real, so that a test that hangs ends.
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
