import { describe, expect, it, jest } from '@jest/globals';
import { deadLetter, deferred, waitFor } from '@call-webhooks/contract-tests';
import { type HandlerContext, memoryDeadLetters } from '@call-webhooks/core';
import { redrive, type RedriveProgress } from '../src/index.ts';
import { fill, setup } from './redrive/support.ts';

describe('redrive', () => {
  it('runs all letters once, and removes those that were handled', async () => {
    const { receiver, deadLetters, runs } = setup();
    const letters = await fill(deadLetters, 250);
    const result = await redrive({ receiver, deadLetters });
    expect(result).toEqual({
      ...{ handled: 250, queued: 0, failed: 0 },
      ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
    });
    expect([...runs].sort()).toEqual(letters.map(({ key }) => key).sort());
    expect(await deadLetters.count()).toBe(0);
    expect(await redrive({ receiver, deadLetters })).toMatchObject({ handled: 0 });
  });

  it('runs one by its id, or those that match a filter', async () => {
    const { receiver, deadLetters, runs } = setup();
    await fill(deadLetters, 3);
    const [started] = await fill(deadLetters, 1, { eventName: 'call:started' });
    const filter = { eventName: 'call:started' };
    expect(await redrive({ receiver, deadLetters, filter })).toMatchObject({ handled: 1 });
    expect(runs).toEqual([started!.key]);
    const [first] = (await deadLetters.list()).letters;
    expect(await redrive({ receiver, deadLetters, id: first!.id })).toMatchObject({ handled: 1 });
    expect(runs[1]).toBe(first!.key);
    expect(await redrive({ receiver, deadLetters, id: 'nobody' })).toMatchObject({
      ...{ notFound: 1, skipped: 0 },
    });
    expect(await deadLetters.count()).toBe(2);
  });

  it('runs those that are named, in their order and each once, and none for an empty list', async () => {
    const { receiver, deadLetters, runs } = setup();
    await fill(deadLetters, 4);
    const { letters } = await deadLetters.list();
    const [first, , third] = letters;
    const ids = [third!.id, 'nobody', first!.id, third!.id];
    const options = { receiver, deadLetters, concurrency: 1 };
    expect(await redrive({ ...options, ids })).toMatchObject({ handled: 2, notFound: 1 });
    expect(runs).toEqual([third!.key, first!.key]);
    expect(await redrive({ ...options, ids: [] })).toMatchObject({ handled: 0, notFound: 0 });
    expect(await deadLetters.count()).toBe(2);
  });

  it('puts a letter that fails again back, once, with its new error and its history', async () => {
    const { receiver, deadLetters, runs } = setup({ works: () => false });
    const [letter] = await fill(deadLetters, 1);
    for (const failed of [1, 2]) {
      const result = await redrive({ receiver, deadLetters });
      expect(result).toEqual({
        ...{ handled: 0, queued: 0, failed: 1 },
        ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
      });
      expect(runs).toHaveLength(failed);
    }
    const { letters } = await deadLetters.list();
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({
      attempt: 5,
      error: 'Error: still broken',
      key: letter!.key,
    });
    expect(letters[0]!.history).toMatchObject([
      { source: 'webhook', attempt: 3, error: 'Error: the CRM is down' },
      { source: 'redrive', attempt: 4, error: 'Error: still broken' },
      { source: 'redrive', attempt: 5, error: 'Error: still broken' },
    ]);
    expect(letters[0]).not.toHaveProperty('claimedUntil');
  });

  it.each([
    ['without deadLetter', undefined, 'Error: still broken'],
    [
      'while deadLetter fails',
      () => Promise.reject(new Error('disk full')),
      'Error: still broken. The deadLetter sink failed: Error: disk full',
    ],
  ])('puts a failed letter back itself, %s', async (_when, sink, error) => {
    const { receiver, deadLetters } = setup({ works: () => false, deadLetter: sink });
    await fill(deadLetters, 1);
    expect(await redrive({ receiver, deadLetters })).toMatchObject({ failed: 1 });
    const { letters } = await deadLetters.list();
    expect(letters[0]).toMatchObject({ attempt: 4, source: 'redrive' });
    expect(letters[0]!.error).toBe(error);
    expect(letters[0]!.history).toHaveLength(2);
  });

  it('is one letter still when an invalid payload becomes valid, and its handler fails', async () => {
    const { receiver, deadLetters } = setup({ works: () => false });
    const { key: _key, ...invalid } = deadLetter({ reason: 'invalid-payload' });
    await deadLetters.put(invalid);
    expect(await redrive({ receiver, deadLetters })).toMatchObject({ failed: 1 });
    const { letters } = await deadLetters.list();
    expect(letters).toHaveLength(1);
    expect(letters[0]).toMatchObject({ reason: 'handler-failed' });
    expect(letters[0]!.history).toHaveLength(2);
  });

  it('removes a letter whose event was handled before, and says so', async () => {
    const { receiver, deadLetters, runs } = setup();
    const [letter] = await fill(deadLetters, 1);
    await receiver.deliver(letter!);
    expect(await redrive({ receiver, deadLetters })).toMatchObject({
      ...{ handled: 0, alreadyHandled: 1, skipped: 0 },
    });
    expect(runs).toHaveLength(1);
    expect(await deadLetters.count()).toBe(0);
  });

  it('skips and keeps a letter that has no handler here, or that a worker of a queue put there', async () => {
    const { receiver, deadLetters, runs } = setup();
    await fill(deadLetters, 1, { eventName: 'call:moved' });
    await fill(deadLetters, 1, { source: 'queue' });
    const told: RedriveProgress[] = [];
    const onProgress = (progress: RedriveProgress) => void told.push(progress);
    expect(await redrive({ receiver, deadLetters, onProgress })).toMatchObject({ skipped: 2 });
    const why = told.map(({ outcome, reason }) => outcome ?? reason);
    expect(why.sort()).toEqual(['dead-job', 'ignored']);
    expect(runs).toEqual([]);
    const { letters } = await deadLetters.list();
    expect(letters.map(({ history, claimedUntil }) => [history.length, claimedUntil])).toEqual([
      [1, undefined],
      [1, undefined],
    ]);
  });

  it('runs only the letters of a tenant, also by their ids', async () => {
    const ran: unknown[] = [];
    const { receiver, deadLetters } = setup({
      tenant: ({ path }) => path.split('/')[2],
      secret: () => undefined,
      on: { 'call:completed': (_event, { tenant }) => void ran.push(tenant) },
    });
    for (const tenant of ['acme', 'globex']) await fill(deadLetters, 2, { tenant });
    await fill(deadLetters, 1);
    const ofAcme = { receiver, deadLetters, tenant: 'acme' };
    const [globex] = (await deadLetters.list({ tenant: 'globex' })).letters;
    expect(await redrive({ ...ofAcme, id: globex!.id })).toMatchObject({ handled: 0, skipped: 1 });
    const filter = { eventName: 'call:completed' };
    expect(await redrive({ ...ofAcme, filter: { eventName: 'call:started' } })).toMatchObject({
      handled: 0,
    });
    expect(await redrive({ ...ofAcme, filter })).toMatchObject({ handled: 2, skipped: 0 });
    await fill(deadLetters, 1, { tenant: 'acme' });
    expect(await redrive(ofAcme)).toMatchObject({ handled: 1, skipped: 0 });
    expect(ran).toEqual(['acme', 'acme', 'acme']);
    expect(await deadLetters.count()).toBe(3);
    expect(await redrive({ ...ofAcme, tenant: 'globex', id: globex!.id })).toMatchObject({
      handled: 1,
    });
  });

  it('runs letters from before the receiver had tenants as those of the tenant it is told', async () => {
    const ran: unknown[] = [];
    let works = false;
    const { receiver, deadLetters } = setup({
      tenant: ({ path }) => path.split('/')[2],
      secret: () => undefined,
      maxAttempts: 1,
      on: {
        'call:completed': (_event, { tenant }) => {
          ran.push(tenant);
          if (!works) throw new Error('still broken');
        },
      },
    });
    await fill(deadLetters, 1);
    const one = { receiver, deadLetters, concurrency: 1 };
    await expect(redrive(one)).rejects.toThrow('`defaultTenant` of redrive');
    expect((await deadLetters.list()).letters[0]).not.toHaveProperty('claimedUntil');
    expect(await redrive({ ...one, tenant: 'acme' })).toMatchObject({ failed: 0 });
    expect(await redrive({ ...one, defaultTenant: 'acme' })).toMatchObject({ failed: 1 });
    expect(await deadLetters.count()).toBe(1);
    const callId = 'call-of-globex';
    const rawBody = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
    const key = `tenant:globex:${callId}:call:completed`;
    await fill(deadLetters, 1, { tenant: 'globex', callId, key, rawBody });
    works = true;
    expect(await redrive({ ...one, defaultTenant: 'acme' })).toMatchObject({ handled: 2 });
    expect(ran.sort()).toEqual(['acme', 'acme', 'globex']);
    expect(await deadLetters.count()).toBe(0);
  });
});

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

  it('says why it ran nothing: no such id, another redrive, another tenant', async () => {
    const { receiver, deadLetters } = setup();
    await fill(deadLetters, 1);
    const [{ id } = { id: '' }] = (await deadLetters.list()).letters;
    await deadLetters.claim(id, { token: 'another', leaseMs: 60_000 });
    const requeue = () => Promise.resolve(false);
    const told: RedriveProgress[] = [];
    const onProgress = (progress: RedriveProgress) => void told.push(progress);
    for (const options of [
      { receiver, deadLetters, id: 'nope' },
      { receiver, deadLetters, id: 'nope', tenant: 'acme' },
      { deadJobs: { ...deadLetters, requeue }, id: 'nope' },
      { receiver, deadLetters, id },
      { receiver, deadLetters, id, tenant: 'acme' },
    ])
      await redrive({ ...options, onProgress });
    expect(told.map(({ result, reason }) => reason ?? result)).toEqual([
      ...['notFound', 'notFound', 'notFound'],
      ...['claimed', 'other-tenant'],
    ]);
    expect(told.map(({ skipped, notFound }) => [skipped, notFound])).toEqual([
      ...[
        [0, 1],
        [0, 1],
        [0, 1],
      ],
      ...[
        [1, 0],
        [1, 0],
      ],
    ]);
  });

  it('runs as many at once as it may, and ends what runs when it is aborted', async () => {
    const gate = deferred();
    let running = 0;
    const signals: AbortSignal[] = [];
    const on = {
      'call:completed': (_event: unknown, context: Pick<HandlerContext, 'signal'>) => {
        running += 1;
        signals.push(context.signal);
        return gate.promise;
      },
    };
    const { receiver, deadLetters } = setup({ on });
    await fill(deadLetters, 10);
    const controller = new AbortController();
    const { signal } = controller;
    const redriving = redrive({ receiver, deadLetters, concurrency: 3, signal });
    await waitFor(() => running === 3);
    controller.abort();
    // What runs is to end well.
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false]);
    gate.resolve();
    expect(await redriving).toEqual({
      ...{ handled: 3, queued: 0, failed: 0 },
      ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 0 },
    });
    expect(await deadLetters.count()).toBe(7);
  });

  it('runs no letter in two redrives at once', async () => {
    const { receiver, deadLetters, runs } = setup({ works: (key) => !/[05]:/.test(key) });
    await fill(deadLetters, 300);
    const results = await Promise.all([1, 2].map(() => redrive({ receiver, deadLetters })));
    const sum = (name: 'handled' | 'failed' | 'skipped' | 'notFound') =>
      results.reduce((total, result) => total + result[name], 0);
    expect(sum('handled')).toBe(240);
    expect(sum('handled') + sum('failed') + sum('skipped') + sum('notFound')).toBe(600);
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
      ...{ alreadyHandled: 0, unknown: 0, skipped: 0, notFound: 1 },
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
    for (const named of [
      { id: 'l1', filter: { eventName: 'call:started' } },
      { ids: ['l1'], filter: {} },
      { id: 'l1', ids: ['l2'] },
      { ids: [''] },
      { ids: 'l1' as never },
    ])
      await expect(redrive({ receiver, deadLetters, ...named })).rejects.toMatchObject(wrong);
  });
});
