import { describe, expect, it } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { keepLease } from '../src/internal.ts';
import { fastClock } from './support/fast-clock.ts';

const LEASE_MS = 60_000;
const START = 1_000_000;

/** Keeps a lease until something happens, and tells when it was renewed. */
function keep(
  extend: (count: number, clock: ReturnType<typeof fastClock>) => Promise<boolean>,
  more: { takenAt?: number; every?: number; onRenewed?: () => Promise<unknown> } = {},
) {
  const clock = fastClock(START);
  const askedAt: number[] = [];
  const errors: unknown[] = [];
  const lease = keepLease({
    extend: () => extend(askedAt.push(clock.now() - START), clock),
    ...{ leaseMs: LEASE_MS, takenAt: START, clock, ...more },
    onError: (error) => void errors.push(error),
  });
  const lost = new Promise<{ at: number; why: string }>((resolve) => {
    lease.lost.addEventListener('abort', () => {
      resolve({ at: clock.now() - START, why: (lease.lost.reason as Error).message });
    });
  });
  return { clock, askedAt, errors, lease, lost };
}

const after = (clock: ReturnType<typeof fastClock>, ms: number) =>
  new Promise<void>((resolve) => void clock.schedule(ms, resolve));

describe('a lease', () => {
  it.each([
    ['each third of it', {}, [20_000, 40_000, 60_000]],
    ['as often as it is told', { every: 7_000 }, [7_000, 14_000, 21_000]],
    ['at once if the store took long to give it', { takenAt: START - 30_000 }, [0, 20_000, 40_000]],
    ['a third after it was asked for', { takenAt: START - 5_000 }, [15_000, 35_000, 55_000]],
    // A clock that was set back must not put the renewal off.
    [
      'a third later if it was taken in the future',
      { takenAt: START + 90_000 },
      [20_000, 40_000, 60_000],
    ],
  ])('is renewed %s', async (_what, more, renewedAt) => {
    const three = deferred();
    const { askedAt, lease, clock, errors } = keep(async (count) => {
      if (count === 3) three.resolve();
      return true;
    }, more);
    await three.promise;
    await lease.stop();
    expect([askedAt, errors, lease.lost.aborted]).toEqual([renewedAt, [], false]);
    expect(clock.pending()).toBe(0);
  });

  it('is renewed no more once it was stopped, also when it is stopped again', async () => {
    const { askedAt, lease, clock } = keep(async () => true);
    await after(clock, 50_000);
    await lease.stop();
    await lease.stop();
    await after(clock, 500_000);
    expect([askedAt, lease.lost.aborted, clock.pending()]).toEqual([[20_000, 40_000], false, 0]);
  });

  it('that is stopped during a renewal waits for it', async () => {
    const begun = deferred();
    const { lease, clock } = keep(async (_count, own) => {
      begun.resolve();
      await after(own, 5_000);
      return true;
    });
    await begun.promise;
    await lease.stop();
    expect([clock.now() - START, lease.lost.aborted]).toEqual([25_000, false]);
  });

  it('is lost at once when another process has it', async () => {
    const { lost, askedAt, errors, clock } = keep(async (count) => count < 2);
    expect(await lost).toEqual({ at: 40_000, why: 'Another process has taken the lease.' });
    await after(clock, 200_000);
    expect([askedAt, errors]).toEqual([[20_000, 40_000], []]);
  });

  it('is lost when it has run out since the last renewal, each failure of which is told', async () => {
    const down = new Error('connection refused');
    const { lost, errors } = keep(async (count) => {
      if (count > 1) throw down;
      return true;
    });
    expect(await lost).toEqual({
      ...{ at: 80_000, why: 'The lease ran out, since it could not be renewed.' },
    });
    expect(errors).toEqual([down, down, down]);
  });

  it('has failed to be renewed after a sixth of it', async () => {
    const { errors, lease, clock, askedAt } = keep(async (count, { schedule }) => {
      if (count === 1) await new Promise<void>((resolve) => void schedule(10_001, resolve));
      return true;
    });
    await after(clock, 70_000);
    await lease.stop();
    expect(errors).toEqual([new Error('The renewal of a lease did not end within 10000 ms.')]);
    expect([askedAt.length >= 2, lease.lost.aborted]).toEqual([true, false]);
  });

  it('has the next renewal after what is done with each of them', async () => {
    const done: number[] = [];
    const { clock, lease, askedAt } = keep(async () => true, {
      onRenewed: async () => {
        await after(clock, 25_000); // which is longer than the time between two renewals
        done.push(clock.now() - START);
      },
    });
    await after(clock, 110_000);
    await lease.stop();
    expect(askedAt.length).toBeGreaterThanOrEqual(3);
    for (const [index, at] of askedAt.entries()) {
      expect(done[index]).toBe(at + 25_000);
      if (index > 0) expect(at).toBeGreaterThanOrEqual(done[index - 1]!);
    }
  });
});
