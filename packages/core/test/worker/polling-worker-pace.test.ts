import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startPollingWorker, type PolledJob, type PollingWorkerOptions } from '../../src/stores.ts';
import { deferred } from '../support.ts';

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

const job = (run: () => Promise<void>): PolledJob => ({ run, release: () => Promise.resolve() });

describe('a polling worker', () => {
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
