import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ready } from '../../src/index.ts';
import {
  startPollingWorker,
  type PollingWorkerOptions,
  type PollResult,
  WorkerNotes,
} from '../../src/stores.ts';
import { deferred } from '../support.ts';

const NOTHING: PollResult = { jobs: [] };

describe('health() of a polling worker', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const start = (more: Partial<PollingWorkerOptions>) =>
    startPollingWorker({
      ...{ concurrency: 2, pollEvery: 500, onError: () => undefined },
      take: () => Promise.resolve(NOTHING),
      ...more,
    });
  const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

  it('tells the failure of the last poll, until one succeeds', async () => {
    let isDown = true;
    const worker = start({
      take: () => (isDown ? Promise.reject(new Error('read-only')) : Promise.resolve(NOTHING)),
    });
    await pass(0);
    expect(await worker.health()).toMatchObject({
      ok: false,
      queue: { status: 'down', error: 'Error: read-only' },
    });
    expect((await ready(worker)()).status).toBe(503);
    isDown = false;
    await pass(500);
    expect(await worker.health()).toMatchObject({ ok: true, queue: { status: 'up' } });
    expect((await ready(worker)()).status).toBe(200);
    await worker.close();
  });

  it('is down while an engine has not answered a poll for 10 s, and tells onError after 30 s, once', async () => {
    const answer = deferred<PollResult>();
    const errors: unknown[] = [];
    const worker = start({
      take: () => answer.promise,
      onError: (error) => void errors.push(error),
    });
    await pass(9_000);
    expect((await worker.health()).ok).toBe(true);
    await pass(3_000);
    expect(await worker.health()).toMatchObject({
      ok: false,
      queue: { error: expect.stringContaining('has not answered a poll for 12 s') },
    });
    expect(errors).toEqual([]);
    await pass(60_000);
    expect(errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('for 30 s') }),
    ]);
    answer.resolve(NOTHING);
    await pass(0);
    expect(await worker.health()).toMatchObject({ ok: true, lastContactAt: new Date() });
    await worker.close();
  });

  it('is down if ping rejects, or has no answer within 2 s', async () => {
    let ping = () => Promise.resolve();
    const worker = start({ ping: () => ping() });
    await pass(0);
    expect((await worker.health()).ok).toBe(true);
    ping = () => Promise.reject(new Error('no permission'));
    expect((await worker.health()).queue).toMatchObject({ error: 'Error: no permission' });
    ping = () => {
      throw new Error('no method');
    };
    expect((await worker.health()).queue).toMatchObject({ error: 'Error: no method' });
    ping = () => new Promise(() => undefined);
    const asked = worker.health();
    await pass(2_000);
    expect((await asked).queue.error).toContain('No answer within 2000 ms');
    await worker.close();
  });

  it('is not ready while it is paused, and when it closes', async () => {
    const worker = start({});
    await pass(0);
    worker.pause();
    expect(await worker.health()).toMatchObject({ ok: false, paused: true });
    const response = await ready(worker)();
    expect([response.status, await response.json()]).toEqual([
      503,
      { ok: false, closing: false, paused: true, queue: 'up' },
    ]);
    worker.resume();
    const { ok, paused } = await worker.health();
    expect({ ok, paused }).toEqual({ ok: true, paused: undefined });
    const closed = worker.close();
    expect(await worker.health()).toMatchObject({ ok: false, closing: true });
    await closed;
  });

  it('is paused if the check has found out that it is', async () => {
    let isPaused = false;
    const check = async () => void (isPaused = true);
    const notes = new WorkerNotes();
    const state = { closing: false, running: 0, paused: () => isPaused, check };
    expect(await notes.health(state)).toMatchObject({ ok: false, paused: true });
  });

  it('counts the jobs that run, and knows when one ended, whatever its result was', async () => {
    const [first, second] = [deferred(), deferred()];
    const release = () => Promise.resolve();
    const jobs = [first, second].map(({ promise }) => ({ run: () => promise, release }));
    const worker = start({ take: (limit) => Promise.resolve({ jobs: jobs.splice(0, limit) }) });
    await pass(0);
    const begun = await worker.health();
    expect(begun).toMatchObject({ ok: true, running: 2, lastContactAt: new Date() });
    expect(begun.lastJobAt).toBeUndefined();
    await pass(7_000);
    second.reject(new Error('the engine refused its result'));
    await pass(0);
    expect(await worker.health()).toMatchObject({ running: 1, lastJobAt: new Date() });
    const endedAt = new Date();
    await pass(1_000);
    expect(await worker.health()).toMatchObject({ lastJobAt: endedAt });
    first.resolve();
    await pass(0);
    await worker.close();
  });
});
