import { describe, expect, it, jest } from '@jest/globals';
import { originsOf } from '../../src/errors.ts';
import { type Admission, memoryStore, type Store, type WebhookError } from '../../src/index.ts';
import { boundedStore } from '../../src/store/lease.ts';
import { DeadlineScheduler } from '../../src/time.ts';
import { deferred } from '../support.ts';

const claim = { webhookId: 'id', replayUntil: Date.now() + 600_000, leaseMs: 60_000, token: 't' };
const never = () => new Promise<never>(() => undefined);
const unavailable = expect.objectContaining({ code: 'store-unavailable' });

describe('boundedStore', () => {
  it('ends every call in time, and reports each failure the same way', async () => {
    const hanging: Store = {
      ...{ admit: never, complete: never, release: never, extend: never },
      reopen: never,
    };
    const broken = Object.fromEntries(
      Object.keys(hanging).map((name) => [
        name,
        () => {
          throw new Error('closed');
        },
      ]),
    ) as unknown as Store;
    for (const store of [hanging, broken]) {
      const bounded = boundedStore(store, 20, new DeadlineScheduler());
      const calls = [
        async () => await bounded.admit(claim),
        async () => await bounded.complete('k', 't'),
        async () => await bounded.release('k', 't'),
        async () => await bounded.extend('k', 't', 1),
        async () => await bounded.reopen?.('k'),
      ];
      for (const call of calls) await expect(call()).rejects.toEqual(unavailable);
    }
  });

  it('reports a result that cannot be awaited as a failure', async () => {
    const trap = {
      get then(): never {
        throw new Error('trap');
      },
    };
    const bounded = boundedStore(
      { ...memoryStore(), admit: () => trap as never },
      20,
      new DeadlineScheduler(),
    );
    await expect((async () => await bounded.admit(claim))()).rejects.toEqual(unavailable);
  });

  it('reopens what the dead letters have, and nothing else', async () => {
    const bounded = boundedStore(memoryStore(), 20, new DeadlineScheduler());
    await bounded.admit({ ...claim, key: 'k' });
    await bounded.complete('k', 't', 'dead-lettered');
    expect([await bounded.reopen?.('k'), await bounded.reopen?.('k')]).toEqual([true, false]);
  });

  it('does not wait when the store responds synchronously', () => {
    const bounded = boundedStore(memoryStore(), 20, new DeadlineScheduler());
    expect(bounded.admit({ ...claim, key: 'k' })).toEqual({ status: 'admitted', attempt: 1 });
    expect(bounded.extend('k', 't', 60_000)).toBe(true);
    expect(bounded.release('k', 't')).toBe(true);
    expect(bounded.complete('k', 't')).toBe(false);
  });

  it('calls methods that were replaced on the store', async () => {
    const store = memoryStore();
    const bounded = boundedStore(store, 20, new DeadlineScheduler());
    const spies = (['admit', 'complete', 'release', 'extend'] as const).map((name) =>
      jest.spyOn(store, name),
    );
    expect(await bounded.admit({ ...claim, key: 'k' })).toEqual({ status: 'admitted', attempt: 1 });
    expect(await bounded.extend('k', 't', 60_000)).toBe(true);
    expect(await bounded.release('k', 't')).toBe(true);
    expect(await bounded.complete('k', 't')).toBe(false);
    for (const spy of spies) expect(spy).toHaveBeenCalledTimes(1);
    const wrapped = boundedStore({ ...store, complete: never }, 20, new DeadlineScheduler());
    await expect(wrapped.complete('k', 't')).rejects.toEqual(unavailable);
  });

  it('releases a claim that is granted too late', async () => {
    const go = deferred();
    const inner = memoryStore();
    const store = {
      ...inner,
      admit: jest.fn(async (late: typeof claim) => {
        await go.promise;
        return inner.admit(late);
      }),
    };
    const bounded = boundedStore(store, 20, new DeadlineScheduler());
    await expect(bounded.admit({ ...claim, key: 'k' })).rejects.toEqual(unavailable);
    go.resolve();
    await store.admit.mock.results[0]!.value;
    await new Promise(setImmediate);
    expect(await inner.admit({ ...claim, key: 'k', webhookId: 'other', token: 'u' })).toEqual({
      status: 'admitted',
      attempt: 2,
    });
  });

  it('releases a claim whose response was lost', async () => {
    const inner = memoryStore();
    const bounded = boundedStore(
      {
        ...inner,
        admit: async (lost) => {
          await inner.admit(lost);
          throw new Error('connection reset');
        },
      },
      20,
      new DeadlineScheduler(),
    );
    await expect(bounded.admit({ ...claim, key: 'k' })).rejects.toEqual(unavailable);
    await new Promise(setImmediate);
    expect(await inner.admit({ ...claim, key: 'k', webhookId: 'other', token: 'u' })).toEqual({
      status: 'admitted',
      attempt: 2,
    });
  });

  it('ignores late failures', async () => {
    const go = deferred<Admission>();
    const store = { ...memoryStore(), admit: () => go.promise };
    const release = jest.spyOn(store, 'release');
    const bounded = boundedStore(store, 20, new DeadlineScheduler());
    await expect(bounded.admit({ ...claim, key: 'k' })).rejects.toEqual(unavailable);
    go.reject(new Error('late')); // an unhandled rejection would fail the run
    await new Promise(setImmediate);
    expect(release).toHaveBeenCalledTimes(1);
  });

  it('releases nothing that was not claimed: without a key, or refused too late', async () => {
    const go = deferred<Admission>();
    const store = { ...memoryStore(), admit: () => go.promise };
    const release = jest.spyOn(store, 'release');
    const bounded = boundedStore(store, 20, new DeadlineScheduler());
    await expect(bounded.admit({ ...claim, key: 'k' })).rejects.toEqual(unavailable);
    go.resolve({ status: 'duplicate' });
    store.admit = () => Promise.reject(new Error('closed'));
    await expect(bounded.admit(claim)).rejects.toEqual(unavailable);
    await new Promise(setImmediate);
    expect(release).not.toHaveBeenCalled();
  });

  it('waits for an answer that comes in time, and says what failed', async () => {
    jest.useFakeTimers();
    try {
      const admit = () =>
        new Promise<Admission>((resolve) => setTimeout(resolve, 19, { status: 'duplicate' }));
      const complete = () => Promise.reject(new Error('connection reset'));
      const store = { ...memoryStore(), admit, complete };
      const bounded = boundedStore(store, 20, new DeadlineScheduler());
      const answer = bounded.admit(claim);
      await jest.advanceTimersByTimeAsync(19);
      expect(await answer).toEqual({ status: 'duplicate' });
      const failure = await Promise.resolve(bounded.complete('k', 't')).catch((e: unknown) => e);
      expect(String(failure)).toContain('The store failed: Error: connection reset');
      const origin = { source: 'store', error: new Error('connection reset') };
      expect(originsOf(failure as WebhookError)).toEqual([origin]);
    } finally {
      jest.useRealTimers();
    }
  });
});
