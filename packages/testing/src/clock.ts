import { WebhookError } from '@call-webhooks/core';

/**
 * A clock that only your test advances. It is a `Clock` of `@call-webhooks/client`, and its `now` fits
 * the option `now` of receivers, of `memoryStore` and of `deliver`.
 */
export interface TestClock {
  /** Returns the time, in milliseconds since the epoch. */
  readonly now: () => number;
  /**
   * Calls `callback` once the clock has been advanced by `delay` milliseconds. The returned function
   * cancels it.
   */
  readonly schedule: (delay: number, callback: () => void) => () => void;
  /** Advances the clock by `ms` milliseconds, and calls everything that falls due, in order. */
  readonly advance: (ms: number) => void;
}

/**
 * Creates a clock that does not move until you advance it.
 * @param start a date, or milliseconds since the epoch; now by default
 * @throws WebhookError `invalid-options` for an invalid date
 * @example
 * const clock = createTestClock();
 * const receiver = createReceiver({ secret, on, now: clock.now });
 * clock.advance(10 * 60_000);
 */
export function createTestClock(start: Date | number = Date.now()): TestClock {
  let time = Number(start);
  if (Number.isNaN(time))
    throw new WebhookError('invalid-options', 'createTestClock: the start is not a valid date.');
  const timers = new Set<{ at: number; callback: () => void }>();
  const now = () => time;
  return {
    now,
    schedule(delay, callback) {
      const timer = { at: time + Math.max(0, delay), callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance(ms) {
      if (!(ms >= 0))
        throw new WebhookError(
          'invalid-options',
          `createTestClock: advance takes milliseconds, 0 or more, not ${String(ms)}.`,
        );
      const end = time + ms;
      for (;;) {
        const due = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        time = due.at;
        due.callback();
      }
      time = end;
    },
  };
}
