import { describe, expect, it } from '@jest/globals';
import { systemClock, type CallRecord } from '@call-webhooks/client';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import { memoryStore } from '@call-webhooks/core';
import type { ReconcileTask, RedriveTask, Tasks } from '../src/api-types.ts';
import { callBody, failing, NOW, open } from './support.ts';

describe('the state of a task, as a store has it', () => {
  it.each(['redrive', 'removal', 'erasure', 'reconcile'] as const)(
    'is no %s if it is none',
    async (name) => {
      const { store, get } = open();
      for (const text of ['', 'null', '[]', '{"id":', '{"id":"t"}', '{"state":"done"}', '"done"']) {
        await store.saveCursor?.(`console/${name}`, text);
        expect([text, (await get<Tasks>('/api/tasks'))[name]]).toEqual([text, null]);
      }
    },
  );

  it('is saved while it runs, with the time', async () => {
    const { store, post, deadLetters, deliver, clock } = open({
      receiving: { on: failing, maxAttempts: 1 },
    });
    await deliver(callBody('c1'));
    const held = deferred();
    const { claim } = deadLetters;
    deadLetters.claim = (...given) => held.promise.then(() => claim(...given));
    await post('/api/redrive', { all: true });
    clock.now += 5_000;
    const saved = async () =>
      JSON.parse((await store.loadCursor?.('console/redrive')) ?? '{}') as RedriveTask;
    await waitFor(async () => (await saved()).savedAt === NOW + 5_000);
    expect(await saved()).toMatchObject({ state: 'running', startedAt: NOW, endedAt: null });
    held.resolve();
    await waitFor(async () => (await saved()).state === 'done');
    expect(await saved()).toMatchObject({ endedAt: NOW + 5_000 });
  });

  it('that could not be saved at its begin leaves the next one free to begin', async () => {
    const { store, send, post, deadLetters } = open();
    const { saveCursor } = store;
    store.saveCursor = () => Promise.reject(new Error('read-only file system'));
    for (const path of ['redrive', 'remove']) {
      expect((await send(`/api/${path}`, { all: true })).status).toBe(503);
      expect((await send(`/api/${path}`, { all: true })).status).toBe(503);
    }
    Object.assign(store, { saveCursor });
    const tasks = await post<Tasks>('/api/redrive', { all: true, waitMs: 20_000 });
    expect(tasks.redrive).toMatchObject({ state: 'done', total: 0 });
    expect(await deadLetters.count()).toBe(0);
  });

  it('is not ended by a request to stop an earlier one', async () => {
    const { store, post, deadLetters, deliver } = open({
      receiving: { on: failing, maxAttempts: 1 },
      redrive: { concurrency: 1 },
    });
    for (const call of ['c1', 'c2']) await deliver(callBody(call));
    // Its process died before it read the request.
    await store.saveCursor?.('console/redrive/stop', 'the id of an earlier one');
    const [held, read] = [deferred(), deferred()];
    const { claim } = deadLetters;
    deadLetters.claim = (...given) => held.promise.then(() => claim(...given));
    const { loadCursor } = store;
    store.loadCursor = async (name) => {
      const text = await loadCursor?.(name);
      if (name === 'console/redrive/stop') setImmediate(read.resolve);
      return text;
    };
    const started = post<Tasks>('/api/redrive', { all: true, waitMs: 20_000 });
    await read.promise;
    held.resolve();
    expect((await started).redrive).toMatchObject({ state: 'done', total: 2 });
    expect(await store.loadCursor('console/redrive/stop')).toBeUndefined();
  });

  it('whose lease was lost begins nothing more', async () => {
    const store = memoryStore();
    const opened = open({
      receiving: { on: failing, maxAttempts: 1, store },
      redrive: { concurrency: 1 },
    });
    const { get, post, deadLetters, deliver } = opened;
    for (const call of ['c1', 'c2', 'c3']) await deliver(callBody(call));
    const [held, lost] = [deferred(), deferred()];
    const claimed: string[] = [];
    const { claim } = deadLetters;
    deadLetters.claim = async (id, given) => {
      claimed.push(id);
      await held.promise;
      return claim(id, given);
    };
    const { redrive } = await post<Tasks>('/api/redrive', { all: true });
    const { extend } = store;
    store.extend = async (key, ...given) => {
      const isHeld = await extend(key, ...given);
      if (!isHeld) setImmediate(lost.resolve);
      return isHeld;
    };
    await store.release('console/redrive', redrive?.id ?? '');
    await lost.promise;
    held.resolve();
    // Closing the console would end the run as well.
    await waitFor(async () => (await get<Tasks>('/api/tasks')).redrive?.state === 'lost');
    expect(claimed).toHaveLength(1);
  });
});

describe('a console that was closed', () => {
  it.each([
    ['redrive', { all: true }],
    ['remove', { all: true }],
    ['erase', { about: 'Ada Lovelace' }],
    ['reconcile', { dryRun: true, since: NOW - 60_000, until: NOW }],
  ])('begins no %s, tells of none, and still shows what there is', async (path, body) => {
    const actions: unknown[] = [];
    let time = NOW - 24 * 3_600_000;
    const kept = memoryStore({ now: () => time });
    time = NOW;
    const {
      console: closed,
      send,
      get,
      store,
      deliver,
      deadLetters,
    } = open({
      receiving: { on: failing, maxAttempts: 1, store: kept },
      reconcile: { client: serviceOf([]) },
      onAction: (action) => actions.push(action),
    });
    await deliver(callBody('c1'));
    await Promise.all([closed.close(), closed.close()]);
    await closed.close();
    const refused = await send(`/api/${path}`, body);
    expect([refused.status, await refused.json()]).toEqual([
      409,
      {
        error: { code: 'already-running', message: 'The console is shutting down. Try again.' },
      },
    ]);
    expect(actions).toEqual([]);
    expect(await get('/api/tasks')).toEqual({
      ...{ shared: true, redrive: null, removal: null, erasure: null, reconcile: null, waiting: 1 },
    });
    expect(await deadLetters.count()).toBe(1);
    // The lock is free for the process that comes after it.
    const tasks = ['redrive', 'removal', 'erasure', 'reconcile'].map((name) => `console/${name}`);
    expect(await store.peek?.(tasks)).toEqual(tasks.map(() => undefined));
  });
});

/** A service that has these calls, each a minute after the one before. */
function serviceOf(calls: readonly string[]) {
  const results = calls.map((_id, at): CallRecord => ({
    _id,
    createdAt: NOW - 3_600_000 + at,
    endedAt: NOW - 3_500_000 + at,
  }));
  return {
    baseUrl: 'https://service.example',
    calls: {
      list: () => Promise.resolve({ results, next: undefined, hasNext: false, raw: {} }),
      recording: () => Promise.reject(new Error('not asked for')),
    },
  };
}

/** A console whose store knows some of the calls of the service. */
async function withCalls(missed: number, known: number) {
  let time = NOW - 24 * 3_600_000;
  const store = memoryStore({ now: () => time });
  time = NOW;
  const named = (kind: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${kind}-${at}`);
  const opened = open({
    ...{ receiving: { store }, clock: { ...systemClock, now: () => NOW } },
    reconcile: { client: serviceOf([...named('known', known), ...named('missed', missed)]) },
  });
  for (const callId of named('known', known))
    await opened.receiver.deliver({ eventName: 'call:completed', callId }, { source: 'reconcile' });
  const run = async (body: object) => {
    const sent = { since: NOW - 7_200_000, waitMs: 20_000, ...body };
    return (await opened.post<Tasks>('/api/reconcile', sent)).reconcile as ReconcileTask;
  };
  return { ...opened, store, run };
}

describe('a reconcile run', () => {
  it('shows 200 missed events and 50 others at most, and counts all', async () => {
    const { run } = await withCalls(210, 60);
    const { counts, events } = await run({ dryRun: true });
    expect(counts).toMatchObject({ seen: 270, missed: 210, known: 60 });
    const missed = events.filter((event) => event.missed).length;
    expect([missed, events.length - missed]).toEqual([200, 50]);
  });

  it('has the reasons of the dry run before it only if both looked at the same time', async () => {
    const until = NOW - 1_200_000;
    for (const later of [0, 1]) {
      const { run } = await withCalls(1, 0);
      const { reasons } = await run({ dryRun: true, until });
      expect(reasons).toHaveLength(1);
      const real = await run({ dryRun: false, until: until + later });
      expect(real).toMatchObject({ counts: { handled: 1 }, reasons: later === 0 ? reasons : [] });
    }
  });

  it('leaves the cursor of a reconciler that runs by itself as it is', async () => {
    const { run, store } = await withCalls(2, 0);
    const cursor = JSON.stringify({ since: NOW - 7_200_000, until: NOW - 1_000_000, next: 'x' });
    await store.saveCursor?.('reconcile', cursor);
    expect(await run({ dryRun: false })).toMatchObject({ state: 'done', counts: { handled: 2 } });
    expect(await store.loadCursor?.('reconcile')).toBe(cursor);
  });

  it('ends no later than now, and as early as it is asked to', async () => {
    const { run } = await withCalls(1, 0);
    for (const until of [NOW - 1_200_000, NOW - 60_000])
      expect(await run({ dryRun: true, until })).toMatchObject({ until });
    expect(await run({ dryRun: true, until: NOW + 3_600_000 })).toMatchObject({ until: NOW });
    expect(await run({ dryRun: true })).toMatchObject({ until: NOW - 600_000 });
  });
});
