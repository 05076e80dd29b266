import type { Clock } from '@call-webhooks/client';

/** A clock whose time passes at once, as soon as everything else waits. */
export interface FastClock extends Clock {
  /** How many timers wait. */
  pending(): number;
  /** Calls back at a time, before the timers of that time. */
  at(time: number, callback: () => void): void;
}

/** @param startAt the time that it begins with; milliseconds */
export function fastClock(startAt = 0): FastClock {
  const timers = new Set<{ at: number; callback: () => void }>();
  let now = startAt;
  let isTicking = false;
  /** Everything that waits for no timer has run by the second turn of the event loop. */
  const tick = () => {
    if (isTicking) return;
    isTicking = true;
    setImmediate(() =>
      setImmediate(() => {
        isTicking = false;
        const [next] = [...timers].sort((one, other) => one.at - other.at);
        if (!next) return;
        timers.delete(next);
        now = Math.max(now, next.at);
        next.callback();
        tick();
      }),
    );
  };
  const clock: FastClock = {
    now: () => now,
    schedule(delay, callback) {
      const timer = { at: now + delay, callback };
      timers.add(timer);
      tick();
      return () => void timers.delete(timer);
    },
    pending: () => timers.size,
    at: (time, callback) => void clock.schedule(time - now, callback),
  };
  return clock;
}
