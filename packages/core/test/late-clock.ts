import { afterEach, beforeEach, jest } from '@jest/globals';
import { NOW } from './support.ts';

/** A fake clock, long after its start, so that no time is 0 by chance. */
export function useLateClock(): void {
  const uptimeMs = 1_000_000;
  beforeEach(() => {
    jest.useFakeTimers({ now: NOW - uptimeMs });
    jest.advanceTimersByTime(uptimeMs);
  });
  afterEach(() => void jest.useRealTimers());
}
