import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Admission, type Store } from '../../src/index.ts';
import { boundedStore } from '../../src/store/bounded-store.ts';
import { DeadlineScheduler } from '../../src/time/deadline-scheduler.ts';
import { deferred } from '../support.ts';

const claim = { webhookId: 'id', replayUntil: Date.now() + 1_000, leaseMs: 60_000, token: 't' };
const never = () => new Promise<never>(() => undefined);
const unavailable = expect.objectContaining({ code: 'store-unavailable' });

describe('boundedStore', () => {
  it('ends every call in time, and reports each failure the same way', async () => {
    const hanging: Store = { admit: never, complete: never, release: never, extend: never };
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
    const bounded = boundedStore(
      { ...memoryStore(), admit: () => go.promise },
      20,
      new DeadlineScheduler(),
    );
    await expect(bounded.admit({ ...claim, key: 'k' })).rejects.toEqual(unavailable);
    go.reject(new Error('late')); // an unhandled rejection would fail the run
    await new Promise(setImmediate);
  });
});
