import { describe, expect, it, jest } from '@jest/globals';
import { memoryDeadLetters, memoryStore, type HandlerContext } from '@call-webhooks/core';
import { deferred } from '@call-webhooks/contract-tests';
import { redrive, type RedriveProgress } from '../../src/index.ts';
import { fill, setup } from './support.ts';

describe('a redrive', () => {
  it('tells its progress, whatever the hook does', async () => {
    const { receiver, deadLetters } = setup();
    await fill(deadLetters, 3);
    const told: RedriveProgress[] = [];
    const onProgress = (progress: RedriveProgress) => {
      told.push(progress);
      throw new Error('a broken hook');
    };
    await redrive({ receiver, deadLetters, onProgress, concurrency: 1 });
    expect(told).toMatchObject(
      [1, 2, 3].map((handled) => ({ total: 3, handled, result: 'handled' })),
    );
    expect(told[0]).toMatchObject({ outcome: 'handled', letter: { id: told[0]!.id } });
  });

  it('runs as many at once as it may, and ends what runs when it is aborted', async () => {
    const gate = deferred();
    let running = 0;
    const on = {
      'call:completed': () => {
        running += 1;
        return gate.promise;
      },
    };
    const { receiver, deadLetters } = setup({ on });
    await fill(deadLetters, 10);
    const controller = new AbortController();
    const { signal } = controller;
    const redriving = redrive({ receiver, deadLetters, concurrency: 3, signal });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(running).toBe(3);
    controller.abort();
    gate.resolve();
    expect(await redriving).toEqual({
      ...{ handled: 3, queued: 0, failed: 0 },
      ...{ alreadyHandled: 0, unknown: 0, skipped: 0 },
    });
    expect(await deadLetters.count()).toBe(7);
  });

  it('runs no letter in two redrives at once', async () => {
    const { receiver, deadLetters, runs } = setup({ works: (key) => !/[05]:/.test(key) });
    await fill(deadLetters, 300);
    const results = await Promise.all([1, 2].map(() => redrive({ receiver, deadLetters })));
    const sum = (name: 'handled' | 'failed' | 'skipped') =>
      results.reduce((total, result) => total + result[name], 0);
    expect(sum('handled')).toBe(240);
    expect(sum('handled') + sum('failed') + sum('skipped')).toBe(600);
    const handled = runs.filter((key) => !/[05]:/.test(key));
    expect(new Set(handled).size).toBe(handled.length);
    expect(await deadLetters.count()).toBe(60);
  });

  it('keeps its claim while a handler runs, and aborts the handler when the claim is lost', async () => {
    jest.useFakeTimers();
    try {
      const on = {
        'call:completed': (_event: unknown, { signal }: HandlerContext) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              reject(new Error('aborted'));
            });
          }),
      };
      const { receiver, deadLetters } = setup({ on, deadLetter: undefined });
      await fill(deadLetters, 1);
      const id = (await deadLetters.list()).letters[0]!.id;
      const redriving = redrive({ receiver, deadLetters, leaseFor: 3_000 });
      await jest.advanceTimersByTimeAsync(30_000);
      expect(await deadLetters.claim(id, { token: 'other', leaseMs: 1 })).toBeUndefined();
      const extend = jest.spyOn(deadLetters, 'extend').mockResolvedValue(false);
      await jest.advanceTimersByTimeAsync(1_000);
      expect(await redriving).toMatchObject({ failed: 1 });
      extend.mockRestore();
    } finally {
      jest.useRealTimers();
    }
  });

  it('stops with the error when the store of the events fails, and loses nothing', async () => {
    const store = memoryStore();
    const down = { ...store, admit: () => Promise.reject(new Error('connection refused')) };
    const { receiver, deadLetters } = setup({ store: down });
    await fill(deadLetters, 5);
    const redriving = redrive({ receiver, deadLetters, concurrency: 1 });
    await expect(redriving).rejects.toMatchObject({ code: 'store-unavailable' });
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history }) => history.length)).toEqual([1, 1, 1, 1, 1]);
    const after = setup();
    const result = await redrive({ receiver: after.receiver, deadLetters });
    expect(result).toMatchObject({ handled: 5 });
  });

  it('rejects with the error of the store of letters', async () => {
    const { receiver, deadLetters } = setup();
    await fill(deadLetters, 2);
    const error = new Error('connection refused');
    const broken = { ...deadLetters, settle: () => Promise.reject(error) };
    await expect(redrive({ receiver, deadLetters: broken })).rejects.toBe(error);
    expect(await deadLetters.count()).toBe(2);
  });

  it('gives dead jobs back to their queue', async () => {
    const deadLetters = memoryDeadLetters();
    await fill(deadLetters, 2);
    const requeued: string[] = [];
    const requeue = (id: string) => {
      requeued.push(id);
      return Promise.resolve(requeued.length === 1);
    };
    const result = await redrive({ deadJobs: { ...deadLetters, requeue } });
    expect(result).toEqual({
      ...{ handled: 0, queued: 1, failed: 0 },
      ...{ alreadyHandled: 0, unknown: 0, skipped: 1 },
    });
    expect(requeued.sort()).toEqual((await deadLetters.list()).letters.map(({ id }) => id).sort());
  });

  it('refuses options that mean nothing', async () => {
    const { receiver, deadLetters } = setup();
    const wrong = { code: 'invalid-options' };
    await expect(redrive({ receiver } as never)).rejects.toMatchObject(wrong);
    await expect(redrive({ receiver, deadLetters, leaseFor: 1 })).rejects.toMatchObject(wrong);
    await expect(redrive({ deadJobs: {} as never })).rejects.toMatchObject(wrong);
    const filter = { until: 'now' } as never;
    await expect(redrive({ receiver, deadLetters, filter })).rejects.toMatchObject(wrong);
  });
});
