import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ClockSteps } from '../src/clock-steps.ts';

describe('the wall clock beside a monotonic one', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_800_000_000_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const clock = () => {
    const steps = new ClockSteps();
    return { wasSetBack: (by = 0) => steps.wasSetBack(Date.now() - by) };
  };

  it('may have been set back before the first look', () => {
    expect(clock().wasSetBack()).toBe(true);
  });

  it('was not set back while both go on, however long', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    for (const ms of [0, 1, 5_000, 3_600_000]) {
      jest.advanceTimersByTime(ms);
      expect(wasSetBack()).toBe(false);
    }
  });

  it('was set back by five seconds in ten, which is noticed once', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    jest.advanceTimersByTime(10_000);
    expect(wasSetBack(5_000)).toBe(true);
    expect(wasSetBack(5_000)).toBe(false);
  });

  it('only drifts by less than a second, or is set forward', () => {
    const { wasSetBack } = clock();
    wasSetBack();
    expect(wasSetBack(900)).toBe(false);
    expect(wasSetBack(-60_000)).toBe(false);
    expect(wasSetBack(0)).toBe(true);
  });
});
