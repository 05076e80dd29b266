import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InFlight } from '../../src/in-flight.ts';

describe('places in flight', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const hung = () => ({
    place: 0,
    startedAt: performance.now(),
    tenant: undefined,
    isWaiting: false,
    abandon: () => Promise.resolve(),
  });

  it('frees the place of a handler that never ends once its lease has expired', () => {
    const inFlight = new InFlight(1);
    inFlight.add(hung());
    expect(inFlight.full).toBe(true);
    jest.advanceTimersByTime(280_000);
    expect(inFlight.full).toBe(false);
  });

  it('frees each place at its own time, however often it is full', () => {
    const inFlight = new InFlight(2);
    inFlight.add(hung());
    jest.advanceTimersByTime(100_000);
    inFlight.add(hung());
    for (const advance of [0, 179_999]) {
      jest.advanceTimersByTime(advance);
      expect(inFlight.full).toBe(true);
    }
    jest.advanceTimersByTime(1);
    expect(inFlight.full).toBe(false);
    inFlight.add(hung());
    expect(inFlight.full).toBe(true);
    jest.advanceTimersByTime(100_000);
    expect(inFlight.full).toBe(false);
  });

  it('frees a place once, though its handler ends after its place was taken by another', () => {
    const inFlight = new InFlight(9, 2);
    const ofTenant = () => ({ ...hung(), tenant: 'acme' });
    const stuck = [ofTenant(), ofTenant()];
    for (const one of stuck) inFlight.add(one);
    jest.advanceTimersByTime(280_000);
    for (const next of [ofTenant(), ofTenant()]) inFlight.add(next);
    for (const late of stuck) inFlight.remove(late);
    expect(inFlight.size).toBe(2);
    expect(() => inFlight.add(ofTenant())).toThrow('2 deliveries of this tenant');
    inFlight.add({ ...hung(), tenant: 'globex' });
  });

  it('says that it closes', async () => {
    const inFlight = new InFlight(1);
    await inFlight.close(0);
    expect(() => inFlight.add(hung())).toThrow('The receiver is closing.');
  });

  it('closes at once if all that is left are handlers whose leases have expired', async () => {
    const inFlight = new InFlight(1);
    inFlight.add(hung());
    jest.advanceTimersByTime(280_000);
    const closed = jest.fn();
    void inFlight.close(60_000).then(closed);
    await jest.advanceTimersByTimeAsync(1);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('closes within graceMs and one second, even if nothing can be released', async () => {
    const inFlight = new InFlight(1);
    inFlight.add({ ...hung(), abandon: () => new Promise(() => undefined) });
    const closed = jest.fn();
    void inFlight.close(200).then(closed);
    await jest.advanceTimersByTimeAsync(1_199);
    expect(closed).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(closed).toHaveBeenCalledTimes(1);
  });

  it('an infinite grace period is not a short one', async () => {
    const inFlight = new InFlight(1);
    const work = hung();
    const abandon = jest.spyOn(work, 'abandon');
    inFlight.add(work);
    void inFlight.close(Infinity);
    await jest.advanceTimersByTimeAsync(100_000);
    expect(abandon).not.toHaveBeenCalled();
  });
});
