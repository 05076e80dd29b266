import { collectingLogger } from '@call-webhooks/contract-tests';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { writeResult } from '../../src/worker/leased-job.ts';

const DOCS = /\/queues\.html#what-they-promise$/;

/** Writes to an engine that refuses everything before `refusesUntil`, in milliseconds. */
function writing({ refusesUntil = Infinity, expiresIn = Infinity }) {
  const times: number[] = [];
  const startedAt = performance.now();
  const stop = new AbortController();
  const log = collectingLogger();
  const write = () => {
    const now = Math.round(performance.now() - startedAt);
    times.push(now);
    if (now >= refusesUntil) return Promise.resolve();
    return Promise.reject(new Error('no connection, said +4930901820'));
  };
  const until = startedAt + expiresIn;
  const done = writeResult({
    write,
    until,
    stop: stop.signal,
    log,
    delivery: { webhookId: 'id-1' },
  });
  const lines = () => log.entries.map(({ level, message }) => `${level} ${message}`);
  return { times, stop, done, lines, log };
}

describe('a result that the queue refuses', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('is written again with a growing delay; a short outage is not logged', async () => {
    await jest.advanceTimersByTimeAsync(60_000); // the worker runs for a while
    const { times, done, lines } = writing({ refusesUntil: 4_000 });
    await jest.advanceTimersByTimeAsync(60_000);
    await done;
    expect(times).toEqual([0, 250, 750, 1_750, 3_750, 7_750]);
    expect(lines()).toEqual([]);
  });

  it('is logged once in a long outage, without personal data, and once when it is written', async () => {
    const { times, done, lines, log } = writing({ refusesUntil: 60_000 });
    await jest.advanceTimersByTimeAsync(50_000);
    const refusal =
      'warn call-webhooks: the queue refuses the result of a job: Error: no connection, said [redacted]. It is written again until the queue takes it or the worker stops.';
    expect(lines()).toEqual([refusal]);
    await jest.advanceTimersByTimeAsync(20_000);
    await done;
    expect(log.entries[0]?.fields).toMatchObject({ docs: expect.stringMatching(DOCS) });
    expect(lines()).toEqual([
      refusal,
      'info call-webhooks: the queue took the result of the job at last.',
    ]);
    expect(times.at(-1)! - times.at(-2)!).toBe(4_000);
  });

  it('is written once more when the worker stops, and the loss is logged', async () => {
    const { times, stop, done, lines } = writing({});
    await jest.advanceTimersByTimeAsync(10_000);
    const before = times.length;
    stop.abort();
    await done;
    expect(times).toHaveLength(before + 1);
    expect(lines()).toHaveLength(2);
    expect(lines()[1]).toMatch(/^warn .* never took the result .* The job runs again\.$/);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is given up when the lease expires', async () => {
    const { times, done, lines } = writing({ expiresIn: 10_000 });
    await jest.advanceTimersByTimeAsync(10_000);
    await done;
    expect(times.at(-1)).toBeLessThan(10_000);
    expect(lines()).toHaveLength(2);
  });

  it('is not logged if the lease expires in a short outage', async () => {
    const { done, lines } = writing({ expiresIn: 2_000 });
    await jest.advanceTimersByTimeAsync(2_000);
    await done;
    expect(lines()).toEqual([]);
  });

  it('leaves no listener on the signal of the worker', async () => {
    const { stop, done } = writing({ refusesUntil: 10_000 });
    const removed = jest.spyOn(stop.signal, 'removeEventListener');
    const added = jest.spyOn(stop.signal, 'addEventListener');
    await jest.advanceTimersByTimeAsync(20_000);
    await done;
    const names = (calls: readonly (readonly unknown[])[]) => calls.map(([name]) => name);
    expect(names(removed.mock.calls)).toEqual(names(added.mock.calls));
    expect(added).toHaveBeenCalled();
  });
});
