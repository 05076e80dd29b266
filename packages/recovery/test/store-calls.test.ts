import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { WebhookError } from '@call-webhooks/core';
import { inParallel, persistently } from '../src/internal.ts';
import type { StoreRetry } from '../src/index.ts';
import { fastClock } from './support/fast-clock.ts';

/** Calls a store that fails so many times before it answers. */
async function called(failures: number, error: Error, signal?: AbortSignal) {
  const clock = fastClock();
  const retries: StoreRetry[] = [];
  let calls = 0;
  const result = await persistently(
    'count() of the store',
    async () => {
      calls += 1;
      if (calls <= failures) throw error;
      return 'answer';
    },
    { clock, signal, onRetry: (retry) => void retries.push(retry) },
  ).catch((thrown: unknown) => thrown);
  return { result, calls, retries, tookMs: clock.now(), pending: clock.pending() };
}

describe('a call of a store', () => {
  const down = new Error('connection refused');
  const retriesOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      ...{ error: down, failures: index + 1, pauseMs: (index + 1) * 500 },
    }));

  it.each([
    [0, 'answer', 0, 0],
    [1, 'answer', 1, 500],
    [10, 'answer', 10, 27_500],
    [11, down, 10, 27_500],
    [99, down, 10, 27_500],
  ])('that fails %d times ends with %s, after %d retries', async (failures, end, retried, ms) => {
    const { result, calls, retries, tookMs, pending } = await called(failures, down);
    expect([result, calls, tookMs, pending]).toEqual([end, retried + 1, ms, 0]);
    expect(retries).toEqual(retriesOf(retried));
  });

  it.each(['invalid-options', 'invalid-cursor'] as const)(
    'that is refused with %s is not repeated, since it would be refused again',
    async (code) => {
      const refused = new WebhookError(code, 'why');
      expect(await called(1, refused)).toEqual({
        ...{ result: refused, calls: 1, retries: [], tookMs: 0, pending: 0 },
      });
    },
  );

  it('that does not end in 10 seconds has failed, and its answer is dropped', async () => {
    const clock = fastClock();
    const retries: StoreRetry[] = [];
    let calls = 0;
    const answered = persistently(
      'count() of the store',
      async () => {
        calls += 1;
        const takes = calls === 1 ? 10_001 : 9_999;
        await new Promise<void>((resolve) => void clock.schedule(takes, resolve));
        return calls;
      },
      { clock, onRetry: (retry) => void retries.push(retry) },
    );
    expect(await answered).toBe(2);
    expect(retries).toEqual([
      {
        error: new Error('count() of the store did not end within 10000 ms.'),
        ...{ failures: 1, pauseMs: 500 },
      },
    ]);
    expect(clock.now()).toBe(10_000 + 500 + 9_999);
    expect(clock.pending()).toBe(0);
  });

  it('leaves no listener on the signal, however often it was repeated', async () => {
    const { signal } = new AbortController();
    await called(7, down, signal);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('is made once if it was aborted before, and not repeated', async () => {
    const { result, calls, tookMs } = await called(3, down, AbortSignal.abort());
    expect([result, calls, tookMs]).toEqual([down, 1, 0]);
  });

  it('is repeated whatever the hook does', async () => {
    let calls = 0;
    const onRetry = () => {
      throw new Error('a broken hook');
    };
    const call = async () => {
      if ((calls += 1) === 1) throw down;
      return calls;
    };
    expect(await persistently('count()', call, { clock: fastClock(), onRetry })).toBe(2);
  });
});

describe('things that are done in parallel', () => {
  const later = () => new Promise((resolve) => setImmediate(resolve));

  it.each([
    [1, 7, 1],
    [3, 7, 3],
    [9, 7, 7],
    [4, 0, 0],
  ])('%d at once, are all of %d, each once', async (concurrency, count, most) => {
    const items = Array.from({ length: count }, (_, index) => index);
    const [begun, ended]: number[][] = [[], []];
    let highest = 0;
    await inParallel(items, { concurrency }, async (item) => {
      begun!.push(item);
      highest = Math.max(highest, begun!.length - ended!.length);
      await later();
      ended!.push(item);
    });
    expect([begun, ended!.sort(), highest]).toEqual([items, items, most]);
  });

  it('begin nothing after a failure, wait for what runs, and reject with the first one', async () => {
    const [begun, ended]: number[][] = [[], []];
    const running = inParallel([0, 1, 2, 3, 4, 5], { concurrency: 3 }, async (item) => {
      begun!.push(item);
      if (item === 1) throw new Error('first');
      await later();
      await later();
      ended!.push(item);
      if (item === 2) throw new Error('second');
    });
    await expect(running).rejects.toThrow('first');
    expect([begun, ended]).toEqual([
      [0, 1, 2],
      [0, 2],
    ]);
  });

  it('begin nothing once they are aborted, and do not reject for that', async () => {
    const stopping = new AbortController();
    const begun: number[] = [];
    await inParallel([0, 1, 2, 3], { concurrency: 1, signal: stopping.signal }, async (item) => {
      begun.push(item);
      if (item === 1) stopping.abort(new Error('enough'));
      await later();
    });
    expect(begun).toEqual([0, 1]);
  });
});
