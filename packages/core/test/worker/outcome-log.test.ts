import { describe, expect, it, jest } from '@jest/globals';
import { durationPercentile } from '../../src/internal.ts';
import { bucketEnd, durationBucket } from '../../src/stores.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { useLateClock } from '../late-clock.ts';
import { loggedStore } from '../logged-store.ts';
import { deferred, Lines, NOW, SECONDS, STARTED } from '../support.ts';

describe('the outcome log of a worker', () => {
  useLateClock();
  const queued = (callId: string) => ({
    ...{ webhookId: `w-${callId}`, timestamp: SECONDS, receivedAt: NOW - 500 },
    body: btoa(JSON.stringify({ ...STARTED, callId })),
  });
  const on = {
    'call:started': ({ callId }: { callId: string }) => {
      if (callId === 'bad') throw new Error('no');
    },
  };

  it('counts runs apart from deliveries, and close() completes it', async () => {
    const { store, counted, counts, batches, rows } = loggedStore();
    const run = createJobProcessor({ on, log: store.log, logger: new Lines() } as never);
    await run(queued('c1'));
    await run(queued('bad'), { attempt: 1, maxRuns: 2 });
    await run(queued('bad'), { attempt: 2, maxRuns: 2 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(batches).toHaveLength(1);
    await run(queued('c2'));
    await run.close();
    expect(batches[1]!.process.closed).toBe(true);
    expect(await counted()).toEqual({
      'outcome/queue/handled/call:started': 2,
      'outcome/queue/handler-failed/call:started': 1,
      'outcome/queue/dead-lettered/call:started': 1,
    });
    expect(await counts()).toMatchObject({ 'lagMs/36': 3, 'lagMs/43': 1 });
    expect((await rows())[0]).toMatchObject({ source: 'queue', callId: 'c2', lagMs: 1_500 });
    const minute = Math.floor(NOW / 60_000);
    expect([...(await store.log!.counts('minutes', minute, minute)).keys()]).toEqual([minute]);
  });

  it('tells how many jobs are running, and that none is once they have ended', async () => {
    const { store, batches } = loggedStore();
    const work = deferred();
    const slow = { 'call:started': () => work.promise };
    const run = createJobProcessor({
      on: { ...slow },
      log: store.log,
      logger: new Lines(),
    });
    const running = [run(queued('c1')), run(queued('c2'), { maxRuns: 2 })];
    await run({ ...queued('c3'), body: '' }, { maxRuns: 1 });
    await jest.advanceTimersByTimeAsync(1_000);
    work.reject(new Error('no'));
    await Promise.all(running);
    await jest.advanceTimersByTimeAsync(1_000);
    await run.close();
    expect(batches.map(({ process }) => process.inFlight)).toEqual([2, 0, 0]);
  });

  it('is off by default, and has to be one', async () => {
    const run = createJobProcessor({ on, logger: new Lines() } as never);
    expect(await run(queued('c1'))).toEqual({ status: 'done' });
    await run.close();
    expect(() => createJobProcessor({ on, log: {} } as never)).toThrow('log: expected an object');
  });
});

describe('the buckets of durations', () => {
  it.each([
    [0, 0],
    [1, 0],
    [1.01, 1],
    [2, 4],
    [1_000, 40],
    [1_024, 40],
    [NaN, 0],
    [1e12, 106],
  ])('%d ms are in bucket %d, which does not end before', (ms, bucket) => {
    expect(durationBucket(ms)).toBe(bucket);
    if (ms < 1e9) expect(bucketEnd(bucket)).toBeGreaterThanOrEqual(Math.floor(ms));
  });

  it('tells how long a share of all took at most, whatever order they are in', () => {
    const durations = new Map([
      [40, 1],
      [8, 18],
      [20, 1],
    ]);
    const shares = [0.5, 0.9, 0.95, 0.951, 1];
    expect(shares.map((share) => durationPercentile(durations, share))).toEqual(
      [8, 8, 20, 40, 40].map(bucketEnd),
    );
    expect(durationPercentile(new Map(), 0.95)).toBeUndefined();
  });
});
