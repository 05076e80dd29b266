import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type PolledJob, type PollingWorkerOptions, startPollingWorker } from '../../src/stores.ts';
import { deferred } from '../support.ts';

/** An engine whose jobs end when they are told to. */
function engine(count: number) {
  const log: string[] = [];
  const releases = Array.from({ length: count }, () => deferred());
  const jobs = releases.map((release, index): PolledJob => ({
    async run(signal) {
      log.push(`run ${String(index)}`);
      await release.promise;
      log.push(`end ${String(index)}${signal.aborted ? ' aborted' : ''}`);
    },
    release() {
      log.push(`back ${String(index)}`);
      return Promise.resolve();
    },
  }));
  return { log, releases, jobs };
}
const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

describe('startPollingWorker', () => {
  it('respects concurrency, and polls again as jobs end', async () => {
    const { log, releases, jobs } = engine(3);
    const worker = startPollingWorker({
      concurrency: 2,
      pollEvery: 60_000,
      take: (most) => Promise.resolve({ jobs: jobs.splice(0, most) }),
      onError: () => undefined,
    });
    await turn();
    expect(log).toEqual(['run 0', 'run 1']);
    releases[1]!.resolve();
    await turn();
    expect(log).toEqual(['run 0', 'run 1', 'end 1', 'run 2']);
    releases[0]!.resolve();
    releases[2]!.resolve();
    await worker.close();
    expect(log.slice(-2)).toEqual(['end 0', 'end 2']);
  });

  it('runs no job in the context of the request that woke it, or of another job', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const job = (name: string): PolledJob => ({
      run() {
        seen.push(storage.getStore());
        storage.enterWith(name);
        return Promise.resolve();
      },
      release: () => Promise.resolve(),
    });
    const jobs: PolledJob[] = [];
    const worker = startPollingWorker({
      ...{ concurrency: 2, pollEvery: 60_000, onError: () => undefined },
      take(most) {
        seen.push(storage.getStore());
        return Promise.resolve({ jobs: jobs.splice(0, most) });
      },
    });
    await turn();
    jobs.push(job('first'), job('second'), job('third'));
    storage.run('request', () => worker.wake());
    await turn();
    await worker.close();
    expect(seen.filter((context) => context !== undefined)).toEqual([]);
    expect(seen.length).toBeGreaterThan(5); // three jobs and some polls
  });

  it('tells of an unexpected answer, and goes on', async () => {
    const errors: unknown[] = [];
    let asked = 0;
    const worker = startPollingWorker({
      ...{ concurrency: 1, pollEvery: 1, onClosed: () => undefined as never },
      take: () => Promise.resolve((asked += 1) < 3 ? (undefined as never) : { jobs: [] }),
      onError: (error) => void errors.push(error),
    });
    while (asked < 4) await turn();
    await expect(worker.close()).resolves.toBeUndefined();
    expect(errors).toEqual([new TypeError('take() has to resolve with { jobs: [] }.')]);
  });

  it('tells of an outage once, and of the next one again', async () => {
    const errors: unknown[] = [];
    let asked = 0;
    const worker = startPollingWorker({
      ...{ concurrency: 1, pollEvery: 1 },
      take: () => {
        asked += 1;
        return asked === 4
          ? Promise.resolve({ jobs: [] })
          : Promise.reject(new Error(`no ${asked}`));
      },
      onError: (error) => void errors.push(error),
    });
    while (asked < 8) await turn();
    await worker.close();
    expect(errors).toEqual([new Error('no 1'), new Error('no 5')]);
  });

  it('continues after the engine failed, and polls when the engine says so', async () => {
    const { log, releases, jobs } = engine(1);
    releases[0]!.resolve();
    const errors: unknown[] = [];
    let asked = 0;
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 5,
      take: () => {
        asked += 1;
        if (asked === 1) return Promise.reject(new Error('away'));
        return Promise.resolve({ jobs: asked === 3 ? jobs : [], nextIn: asked === 2 ? 1 : 60_000 });
      },
      onError: (error) => void errors.push(error),
    });
    while (log.length < 2) await turn();
    await worker.close();
    expect(errors).toEqual([new Error('away')]);
  });

  it('releases jobs that it took while closing, and jobs that do not end in time', async () => {
    const { log, jobs } = engine(2);
    const late = deferred();
    let asked = 0;
    const worker = startPollingWorker({
      concurrency: 2,
      pollEvery: 60_000,
      take: async () => {
        asked += 1;
        if (asked === 2) await late.promise;
        return { jobs: jobs.splice(0, 1) };
      },
      onError: () => undefined,
    });
    await turn();
    worker.wake();
    await turn();
    const closed = worker.close({ graceMs: 1 });
    late.resolve();
    await closed;
    expect(log).toEqual(['run 0', 'back 1', 'back 0']);
    worker.wake();
    await turn();
    expect(asked).toBe(2);
  });

  it('never misses a wake-up', async () => {
    let waiting = 0;
    let ran = 0;
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 60_000,
      take: () => {
        if (waiting === 0) return Promise.resolve({ jobs: [] });
        waiting -= 1;
        return Promise.resolve({
          jobs: [{ run: async () => void (ran += 1), release: () => Promise.resolve() }],
        });
      },
      onError: () => undefined,
    });
    for (let number = 1; number <= 200; number++) {
      waiting += 1;
      worker.wake();
      for (let ticks = number % 7; ticks > 0; ticks--) await Promise.resolve();
    }
    await turn();
    expect(ran).toBe(200);
    await worker.close();
  });

  it('closes within graceMs and one second and aborts its jobs, even if the engine does not respond', async () => {
    const never = new Promise<never>(() => undefined);
    const signals: AbortSignal[] = [];
    let asked = 0;
    const worker = startPollingWorker({
      concurrency: 2,
      pollEvery: 60_000,
      take: () => {
        asked += 1;
        const job = {
          run: (signal: AbortSignal) => (signals.push(signal), never),
          release: () => never,
        };
        return asked === 1 ? Promise.resolve({ jobs: [job] }) : never;
      },
      onError: () => undefined,
    });
    await turn();
    worker.wake(); // and never hears of it
    await turn();
    const from = performance.now();
    await worker.close({ graceMs: 50 });
    expect(performance.now() - from).toBeLessThan(15_000); // 2 s, and time for a slow machine
    expect(asked).toBe(2);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('releases jobs that an engine hands out after the worker was closed', async () => {
    const { log, jobs } = engine(1);
    const late = deferred();
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 60_000,
      take: () => late.promise.then(() => ({ jobs })),
      onError: () => undefined,
    });
    await worker.close({ graceMs: 1 });
    late.resolve();
    await turn();
    expect(log).toEqual(['back 0']);
  });

  it('continues when a job rejects or a hook throws', async () => {
    const errors: unknown[] = [];
    let taken = 0;
    const fail = () => {
      throw new Error('broken');
    };
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 1,
      take: () => {
        taken += 1;
        if (taken === 1) fail();
        const run = taken === 2 ? fail : () => Promise.reject(new Error('late'));
        return Promise.resolve({ jobs: taken > 3 ? [] : [{ run, release: fail }] });
      },
      onError(error) {
        errors.push(error);
        throw error;
      },
    });
    while (taken < 6) await turn();
    await worker.close();
    expect(errors.map(String)).toEqual(['Error: broken', 'Error: broken', 'Error: late']);
  });

  it('waits as long as graceMs says, even forever', async () => {
    const { log, releases, jobs } = engine(1);
    const worker = startPollingWorker({
      concurrency: 1,
      pollEvery: 60_000,
      take: (limit) => Promise.resolve({ jobs: jobs.splice(0, limit) }),
      onError: () => undefined,
    });
    await turn();
    const closed = worker.close({ graceMs: Infinity });
    await turn();
    releases[0]!.resolve();
    await closed;
    expect(log).toEqual(['run 0', 'end 0']);
  });
});

describe('a polling worker', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  const later = (ms = 0) => jest.advanceTimersByTimeAsync(ms);

  /** A worker of an engine with these jobs, and the limits that the engine was asked for. */
  function setup(options: Partial<PollingWorkerOptions> & { jobs?: PolledJob[]; nextIn?: number }) {
    const { jobs = [], nextIn, ...more } = options;
    const limits: number[] = [];
    const worker = startPollingWorker({
      ...{ concurrency: 1, pollEvery: 500, onError: () => undefined },
      take(limit) {
        limits.push(limit);
        return Promise.resolve({ jobs: jobs.splice(0, limit), nextIn });
      },
      ...more,
    });
    return { worker, limits };
  }

  const job = (run: PolledJob['run']): PolledJob => ({ run, release: () => Promise.resolve() });

  it.each<[string, number | undefined, number]>([
    ['at its usual pace', undefined, 500],
    ['when the engine has more jobs', 200, 200],
    ['not later than usual', 9_000, 500],
    ['not at once, even if the engine says so', 0, 1],
  ])('polls an idle engine again %s', async (_name, nextIn, ms) => {
    const { worker, limits } = setup(nextIn === undefined ? {} : { nextIn });
    await later(ms - 1);
    expect(limits).toHaveLength(1);
    await later(1);
    expect(limits).toHaveLength(2);
    await worker.close();
  });

  it('takes as many jobs as it can run besides those that run', async () => {
    const ends = [deferred(), deferred(), deferred()];
    const jobs = ends.map(({ promise }) => job(() => promise));
    const { worker, limits } = setup({ concurrency: 4, jobs });
    await later();
    worker.wake();
    await later();
    ends[1]?.resolve();
    await later();
    expect(limits).toEqual([4, 1, 2]);
    for (const { resolve } of ends) resolve();
    await worker.close();
  });

  it('takes nothing while it is paused, and polls at once when it is resumed', async () => {
    const ran: string[] = [];
    const first = deferred();
    const jobs = [job(() => first.promise.then(() => void ran.push('first')))];
    const { worker, limits } = setup({ concurrency: 2, jobs });
    await later();
    worker.pause();
    jobs.push(job(() => Promise.resolve(void ran.push('second'))));
    first.resolve(); // a job that runs goes on
    worker.wake();
    await later(5_000);
    expect({ ran, limits }).toEqual({ ran: ['first'], limits: [2] });
    worker.resume();
    await later();
    expect(ran).toEqual(['first', 'second']);
    await worker.close();
  });

  it.each(Array.from({ length: 12 }, (_, microtasks) => microtasks))(
    'polls again when it is woken %i microtasks after a poll began',
    async (microtasks) => {
      const { worker, limits } = setup({});
      for (let left = microtasks; left > 0; left--) await Promise.resolve();
      worker.wake();
      await later();
      expect(limits).toHaveLength(2);
      await worker.close();
    },
  );

  it('gives jobs 10 s to end when it closes, if it is told nothing else', async () => {
    const signals: AbortSignal[] = [];
    const stuck = job((signal) => {
      signals.push(signal);
      return new Promise<void>(() => undefined);
    });
    const jobs = [stuck];
    const { worker } = setup({ take: (most) => Promise.resolve({ jobs: jobs.splice(0, most) }) });
    await later();
    const closed = worker.close();
    await later(9_999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await later(1_002);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    await closed;
  });

  it('reports no failure of an engine while it closes', async () => {
    const errors: unknown[] = [];
    const late = deferred<never>();
    const fail = () => Promise.reject(new Error('closed'));
    const stuck = { run: () => new Promise<never>(() => undefined), release: fail };
    let asked = 0;
    const { worker } = setup({
      concurrency: 2,
      take: () => (++asked === 1 ? Promise.resolve({ jobs: [stuck] }) : late.promise),
      onError: (error) => void errors.push(error),
    });
    await later();
    worker.wake();
    await later();
    const closed = worker.close({ graceMs: 10 });
    late.reject(new Error('closed'));
    await later(10);
    await closed;
    expect(asked).toBe(2);
    expect(errors).toEqual([]);
  });

  it.each([0, 1])('leaves no timer if the engine answers late, with %s jobs', async (number) => {
    const answer = deferred<{ jobs: PolledJob[] }>();
    const { worker } = setup({ take: () => answer.promise });
    const closed = worker.close({ graceMs: 10 });
    await later(2_000);
    await closed;
    answer.resolve({ jobs: Array.from({ length: number }, () => job(() => Promise.resolve())) });
    await later();
    expect(jest.getTimerCount()).toBe(0);
  });
});
