import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { memoryStore } from '@call-webhooks/core';
import { startReconciler, type ReconcilerOptions } from '../../src/index.ts';
import { fastClock } from '../support/fast-clock.ts';

const NOW = Date.UTC(2026, 0, 31, 12);
const HOUR = 3_600_000;
const KEY = 'call-webhooks.reconciler.reconcile';

/** A reconciler whose service answers as it is told. */
function begin(
  list: (signal: AbortSignal) => Promise<unknown>,
  options: Partial<ReconcilerOptions> = {},
) {
  const clock = fastClock(NOW);
  const logger = collectingLogger();
  const memory = memoryStore({ now: clock.now });
  const store = { ...memory, rememberFor: 24 * HOUR };
  const told: string[] = [];
  const asked = deferred();
  const reconciler = startReconciler({
    client: {
      baseUrl: 'http://service',
      calls: {
        list: ({ signal }: { signal: AbortSignal }) => {
          told.push('list');
          asked.resolve();
          return list(signal);
        },
        recording: () => Promise.reject(new Error('not asked for')),
      },
    } as never,
    receiver: { deliver: () => Promise.reject(new Error('not asked for')) },
    ...{ clock, logger, store, since: new Date(NOW - HOUR) },
    onRun: () => void told.push('run'),
    onError: () => void told.push('error'),
    ...options,
  });
  /** Whether another process could have the lease now. */
  const isFree = async () => {
    const claim = { key: KEY, token: 'another', webhookId: 'another', leaseMs: 1_000 };
    return (await store.admit({ ...claim, replayUntil: clock.now() + 1 })).status === 'admitted';
  };
  return { clock, logger, store, told, asked, reconciler, isFree };
}

const empty = () => Promise.resolve({ results: [], hasNext: false });
const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('a reconciler that is closed', () => {
  it('between two runs leaves no timer, and runs no more', async () => {
    const first = deferred();
    const { clock, told, reconciler, isFree } = begin(empty, { onRun: () => first.resolve() });
    await first.promise;
    await reconciler.close();
    const { length } = told;
    await turns(200);
    expect([told.length, clock.pending(), await isFree()]).toEqual([length, 0, true]);
  });

  it('twice, or at the same time, closes once', async () => {
    const { asked, reconciler, isFree } = begin(untilAborted);
    await asked.promise;
    await Promise.all([reconciler.close(), reconciler.close()]);
    await reconciler.close();
    expect(await isFree()).toBe(true);
  });

  it('during a run stops it, frees the lease, and tells of no error', async () => {
    const { clock, logger, store, told, asked, reconciler, isFree } = begin(untilAborted);
    await asked.promise;
    await reconciler.close();
    expect([told, logger.entries, clock.pending()]).toEqual([['list'], [], 0]);
    expect(await isFree()).toBe(true);
    // The next process runs at once: this was no run.
    const saved = JSON.parse((await store.loadCursor?.('reconcile/schedule')) ?? '{}') as object;
    expect(saved).toEqual({ from: NOW - HOUR, doneUntil: NOW - HOUR });
  });

  it('waits no longer than graceMs for a service that does not answer', async () => {
    const late = deferred();
    const { asked, reconciler, isFree } = begin(async () => {
      await late.promise;
      throw new Error('no answer');
    });
    await asked.promise;
    const begun = performance.now();
    await reconciler.close({ graceMs: 30 });
    expect(performance.now() - begun).toBeLessThan(9_000); // without it, 10 seconds
    late.resolve();
    await reconciler.close();
    expect(await isFree()).toBe(true);
  });

  it('waits 10 seconds by default', async () => {
    const late = deferred();
    const { asked, reconciler } = begin(async () => {
      await late.promise;
      throw new Error('no answer');
    });
    await asked.promise;
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'performance'] });
    try {
      let isClosed = false;
      const closing = reconciler.close().then(() => (isClosed = true));
      await jest.advanceTimersByTimeAsync(9_999);
      expect(isClosed).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      await closing;
    } finally {
      jest.useRealTimers();
      late.resolve();
      await reconciler.close();
    }
  });

  it('before its first look has not asked the service', async () => {
    const { told, reconciler, clock } = begin(empty);
    await reconciler.close();
    await turns(100);
    expect([told.includes('run'), clock.pending()]).toEqual([false, 0]);
  });
});
