import { describe, expect, it, jest } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import { memoryStore, type Store } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import type { DeadLettersPage, Tasks } from '../src/api-types.ts';
import { createConsole } from '../src/index.ts';
import { BASE, callBody, closeLater, open, OWN_PAGE, type Options } from './support.ts';

/** A console with dead letters of these calls. Their handler fails as long as `crm.fails`. */
async function withLetters(calls: string[], { receiving, ...options }: Options = {}) {
  const crm = { fails: true, run: (_callId: string) => Promise.resolve() };
  const on = {
    'call:completed': async ({ callId }: { callId?: unknown }) => {
      if (crm.fails) throw new Error(`no contact "${String(callId)}"`);
      await crm.run(String(callId));
    },
  };
  const opened = open({ receiving: { on, maxAttempts: 1, ...receiving }, ...options });
  for (const call of calls) await opened.deliver(callBody(call));
  const { letters } = await opened.deadLetters.list();
  const idOf = (call: string) => letters.find(({ callId }) => callId === call)?.id ?? '';
  const redrive = async (body: object) =>
    (await opened.post<Tasks>('/api/redrive', { waitMs: 20_000, ...body })).redrive;
  /** Another process with the same store: its console. */
  const other = () => {
    const { receiver, deadLetters, logger } = opened;
    const made = createConsole({
      ...{ receiver, deadLetters, logger, path: '/ops/webhooks' },
      authorize: () => ({ name: 'Bob' }),
    });
    closeLater(() => made.close());
    const ask = async (path: string, init: RequestInit = {}) =>
      made.fetch(new Request(`${BASE}${path}`, init));
    return {
      tasks: async () => (await ask('/api/tasks')).json() as Promise<Tasks>,
      post: (path: string, body: object) =>
        ask(path, { method: 'POST', headers: OWN_PAGE, body: JSON.stringify(body) }),
    };
  };
  const tasks = () => opened.get<Tasks>('/api/tasks');
  return { ...opened, crm, idOf, redrive, other, tasks };
}

const FAILING = {
  maxAttempts: 1,
  on: {
    'call:completed': () => {
      throw new Error('no');
    },
  },
};

describe('api/redrive', () => {
  it('runs those that are named, and tells what became of each', async () => {
    const { crm, idOf, redrive, deadLetters, tasks } = await withLetters(['c1', 'c2', 'c3']);
    crm.fails = false;
    const task = await redrive({ ids: [idOf('c1'), idOf('c3'), 'gone', idOf('c1')] });
    expect(task).toMatchObject({
      ...{ by: 'Ada', state: 'done', total: 3, endedAt: expect.any(Number) },
      counts: { handled: 2, notFound: 1, skipped: 0, failed: 0 },
    });
    expect(await tasks()).toEqual({
      ...{ shared: true, redrive: task, removal: null, erasure: null, reconcile: null, waiting: 1 },
    });
    expect(task?.countedAt).toBeGreaterThanOrEqual(task?.startedAt ?? Infinity);
    expect((await deadLetters.list()).letters.map(({ callId }) => callId)).toEqual(['c2']);
  });

  it('runs those that match, those of a cause, and all', async () => {
    const { crm, redrive, deadLetters, get, logger } = await withLetters(['c1', 'c2', 'c3']);
    expect(await redrive({ filter: { event: 'call:started' } })).toMatchObject({ total: 0 });
    expect(await redrive({ filter: { text: '"c2"' } })).toMatchObject({ counts: { failed: 1 } });
    const { causes } = await get<DeadLettersPage>('/api/dead-letters');
    expect(causes).toMatchObject([{ count: 3 }]);
    const failed = await redrive({ filter: { cause: causes[0]?.id } });
    const cause = 'Error: no contact …';
    expect(failed).toMatchObject({ cause, total: 3, counts: { failed: 3, handled: 0 } });
    expect(logger.entries.filter(({ fields }) => fields['cause'] !== undefined)).toMatchObject([
      {
        fields: { action: 'redrive', cause },
        message: `call-webhooks: console: Ada started a redrive with the cause “${cause}”`,
      },
    ]);
    expect(await redrive({ filter: { cause: 'another' } })).toMatchObject({ total: 0 });
    crm.fails = false;
    const all = await redrive({ all: true });
    expect(all).toMatchObject({ total: 3, counts: { handled: 3 } });
    expect(all).not.toHaveProperty('cause');
    expect(await deadLetters.count()).toBe(0);
  });

  it('is shown and stopped by every process, and runs once at a time', async () => {
    const opened = await withLetters(['c1', 'c2', 'c3', 'c4'], { redrive: { concurrency: 1 } });
    const { crm, post, send, deadLetters, tasks, logger } = opened;
    const other = opened.other();
    // It has run one itself, which is over.
    await other.post('/api/redrive', { ids: ['gone'], waitMs: 20_000 });
    crm.fails = false;
    const begun = deferred();
    const running = deferred();
    crm.run = (call) => {
      if (call !== 'c2') return Promise.resolve();
      begun.resolve();
      return running.promise;
    };
    const { redrive } = await post<Tasks>('/api/redrive', { all: true });
    expect(redrive).toMatchObject({ state: 'running', endedAt: null });
    await begun.promise;
    expect((await tasks()).redrive).toMatchObject({ total: 4, counts: { handled: 1 } });
    await waitFor(async () => (await other.tasks()).redrive?.counts.handled === 1);
    expect((await other.tasks()).redrive).toMatchObject({ id: redrive?.id, state: 'running' });
    for (const second of [
      await send('/api/redrive', { all: true }),
      await other.post('/api/redrive', { all: true }),
    ]) {
      expect(second.status).toBe(409);
      expect(await second.json()).toMatchObject({ error: { code: 'already-running' } });
    }
    expect((await other.post('/api/redrive/stop', {})).status).toBe(200);
    expect(logger.lines.join()).toContain('Bob stopped the redrive');
    // The stop is read within a second; the letter that runs is waited for.
    const read = jest.spyOn(opened.store as Required<Store>, 'loadCursor');
    await waitFor(() => read.mock.calls.some(([name]) => name === 'console/redrive/stop'));
    running.resolve();
    await waitFor(async () => (await other.tasks()).redrive?.state !== 'running');
    expect((await other.tasks()).redrive).toEqual((await tasks()).redrive);
    expect((await tasks()).redrive).toMatchObject({ state: 'stopped', counts: { handled: 2 } });
    expect(await deadLetters.count()).toBe(2);
    // The stop was meant for this task alone, and leaves nothing behind.
    expect(await opened.store.loadCursor?.('console/redrive/stop')).toBeUndefined();
    expect((await other.post('/api/redrive', { all: true, waitMs: 20_000 })).status).toBe(200);
    expect(await deadLetters.count()).toBe(0);
  });

  it('is not stopped by what was meant for an earlier one', async () => {
    const one = { redrive: { concurrency: 1 } };
    const { crm, redrive, store } = await withLetters(['c1', 'c2'], one);
    crm.fails = false;
    await store.saveCursor?.('console/redrive/stop', 'an earlier task');
    const read = jest.spyOn(store as Required<Store>, 'loadCursor');
    crm.run = async () => {
      await waitFor(() => read.mock.calls.some(([name]) => name === 'console/redrive/stop'));
      await new Promise(setImmediate);
    };
    expect(await redrive({ all: true })).toMatchObject({ state: 'done', counts: { handled: 2 } });
  });

  it('two that are started in the same moment: one runs', async () => {
    const { crm, send, ...opened } = await withLetters(['c1']);
    crm.fails = false;
    const body = { all: true, waitMs: 20_000 };
    const answers = await Promise.all([
      ...[send('/api/redrive', body), send('/api/redrive', body)],
      ...[opened.other().post('/api/redrive', body), opened.other().post('/api/redrive', body)],
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('whose process died is told as such, and another one may start', async () => {
    let now = 0;
    const store = memoryStore({ now: () => now });
    const { crm, redrive, tasks } = await withLetters(['c1'], { receiving: { store } });
    crm.fails = false;
    // What a process leaves that was killed.
    const token = 'killed';
    const key = 'console/redrive';
    await store.admit({ webhookId: token, replayUntil: 1, key, leaseMs: 15_000, token });
    const left = { id: token, state: 'running', by: 'Ada', counts: {} };
    await store.saveCursor?.(key, JSON.stringify(left));
    expect((await tasks()).redrive).toMatchObject({ state: 'running' });
    expect(await redrive({ all: true })).toBeUndefined();
    now += 15_001;
    expect((await tasks()).redrive).toMatchObject({ id: token, state: 'lost' });
    expect(await redrive({ all: true })).toMatchObject({ state: 'done', counts: { handled: 1 } });
  });

  it('whose store cannot tell is believed for 30 seconds after it was last saved', async () => {
    const { peek: _peek, ...store } = memoryStore();
    const { tasks, clock } = await withLetters([], { receiving: { store } });
    const savedAt = clock.now;
    const left = { id: 'killed', state: 'running', by: 'Ada', counts: {}, savedAt };
    await store.saveCursor?.('console/redrive', JSON.stringify(left));
    clock.now = savedAt + 29_999;
    expect((await tasks()).redrive).toMatchObject({ state: 'running' });
    clock.now = savedAt + 30_000;
    expect((await tasks()).redrive).toMatchObject({ state: 'lost' });
  });

  it('ends when it has lost its lease, and changes nothing of the next one', async () => {
    const store = memoryStore();
    const { crm, post, tasks } = await withLetters(['c1', 'c2'], {
      receiving: { store },
      redrive: { concurrency: 1 },
    });
    crm.fails = false;
    const running = deferred();
    crm.run = () => running.promise;
    const { redrive } = await post<Tasks>('/api/redrive', { all: true });
    await store.release('console/redrive', redrive?.id ?? '');
    const next = { id: 'next', state: 'done', by: 'Bob' };
    await store.saveCursor?.('console/redrive', JSON.stringify(next));
    const extend = jest.spyOn(store, 'extend');
    await waitFor(() => extend.mock.calls.some(([key]) => key === 'console/redrive'));
    running.resolve();
    await waitFor(async () => (await tasks()).redrive?.id === 'next');
    expect((await tasks()).redrive).toEqual(next);
  });

  it('goes on after a store that timed out, and tries those letters again', async () => {
    const { crm, redrive, deadLetters, idOf } = await withLetters(['c1', 'c2', 'c3']);
    crm.fails = false;
    const { claim } = deadLetters;
    let failures = 2;
    deadLetters.claim = (...given) => {
      failures -= 1;
      return failures >= 0 ? Promise.reject(new Error('timeout')) : claim(...given);
    };
    expect(await redrive({ ids: ['c1', 'c2', 'c3'].map(idOf) })).toMatchObject({
      ...{ state: 'done', retries: 2, counts: { handled: 3 } },
    });
  });

  it('goes on while its own state cannot be saved', async () => {
    const store = memoryStore();
    const { crm, post, tasks, logger } = await withLetters(['c1'], { receiving: { store } });
    crm.fails = false;
    const running = deferred();
    crm.run = () => running.promise;
    await post<Tasks>('/api/redrive', { all: true });
    const { extend } = store;
    const failed = deferred();
    store.extend = (...given) => {
      if (given[0] !== 'console/redrive') return extend(...given);
      store.extend = extend;
      failed.resolve();
      return Promise.reject(new Error('timeout'));
    };
    await failed.promise;
    running.resolve();
    await waitFor(async () => (await tasks()).redrive?.state === 'done');
    expect(logger.lines.join()).toContain('the state of console/redrive could not be saved');
  });

  it('gives up when the store fails again and again, says why, and begins nothing more', async () => {
    jest.useFakeTimers({
      doNotFake: ['queueMicrotask', 'nextTick', 'setImmediate', 'performance'],
    });
    try {
      const calls = Array.from({ length: 20 }, (_, index) => `c${String(index)}`);
      const { post, tasks, idOf, deadLetters, console, send } = await withLetters(calls);
      let claims = 0;
      deadLetters.claim = () => {
        claims += 1;
        return Promise.reject(new Error('disk full'));
      };
      void post('/api/redrive', { ids: calls.map(idOf) });
      let task: Tasks['redrive'] = null;
      while (task === null || task.state === 'running') {
        await jest.advanceTimersByTimeAsync(500);
        task = (await tasks()).redrive;
      }
      expect(task).toMatchObject({
        ...{ state: 'failed', total: 20, error: 'Error: disk full' },
      });
      expect(claims).toBe(4 * 11); // at each of four places
      void console.close();
      expect((await send('/api/redrive', { all: true })).status).toBe(409);
    } finally {
      jest.useRealTimers();
    }
  });

  it('stops when its console closes', async () => {
    const { crm, post, console, other } = await withLetters(['c1', 'c2'], {
      redrive: { concurrency: 1 },
    });
    crm.fails = false;
    const running = deferred();
    crm.run = () => running.promise;
    const next = other();
    await post<Tasks>('/api/redrive', { all: true });
    const closed = console.close();
    running.resolve();
    await closed;
    expect((await next.tasks()).redrive).toMatchObject({
      state: 'stopped',
      counts: { handled: 1 },
    });
  });

  it('in a store without cursors is of its process alone, and says so', async () => {
    const { loadCursor: _load, saveCursor: _save, ...store } = memoryStore();
    const opened = await withLetters(['c1'], { receiving: { store } });
    const { crm, redrive, tasks } = opened;
    crm.fails = false;
    expect(await redrive({ all: true })).toMatchObject({ state: 'done', counts: { handled: 1 } });
    expect(await tasks()).toMatchObject({ shared: false, redrive: { state: 'done' } });
    expect(await opened.other().tasks()).toMatchObject({ shared: false, redrive: null });
  });

  it.each([
    [1, 1],
    [3, 3],
    [undefined, 4],
  ])(
    'with the concurrency %p, requeues at most %d dead jobs of a queue at once',
    async (concurrency, most) => {
      const { deadLetters, deliver } = open({ receiving: FAILING });
      for (let call = 0; call < 9; call++) await deliver(callBody(`c${String(call)}`));
      const { list, get, remove, count } = deadLetters;
      const atOnce = { now: 0, most: 0 };
      const requeue = async (id: string) => {
        atOnce.most = Math.max(atOnce.most, ++atOnce.now);
        for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
        atOnce.now -= 1;
        return remove(id);
      };
      const deadJobs: DeadJobs = { list, get, remove, count, requeue };
      const { post } = open({ deadLetters: deadJobs, redrive: { concurrency } });
      const { redrive } = await post<Tasks>('/api/redrive', { all: true, waitMs: 20_000 });
      expect(redrive).toMatchObject({ state: 'done', total: 9, counts: { queued: 9 } });
      expect(atOnce).toEqual({ now: 0, most });
    },
  );
});
