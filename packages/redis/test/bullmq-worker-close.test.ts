import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { job, madeWorker } from './made-worker.ts';

afterEach(() => void jest.useRealTimers());

describe('a worker that is closed', () => {
  it('takes no new jobs, and waits for the running ones', async () => {
    const ends = deferred();
    const { run, close, pausing, closing } = madeWorker({
      on: { 'call:completed': () => ends.promise },
    });
    const running = run(job(), 'token');
    const closed = close();
    expect(pausing.mock.calls).toEqual([[true]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(closing).not.toHaveBeenCalled();
    ends.resolve();
    await Promise.all([running, closed]);
    expect(closing.mock.calls).toEqual([[false]]);
  });

  it.each([
    [undefined, 10_000],
    [5_000, 5_000],
  ])(
    'with graceMs %s aborts them after %d ms, and 0.3 s later lets go of them',
    async (graceMs, after) => {
      jest.useFakeTimers();
      let signal: AbortSignal | undefined;
      const { run, close, closing } = madeWorker({
        on: {
          'call:completed': (_event: unknown, context: { signal: AbortSignal }) => {
            signal = context.signal;
            return new Promise(() => undefined); // deaf to its signal
          },
        },
      });
      void run(job(), 'token');
      await jest.advanceTimersByTimeAsync(0);
      const closed = close(graceMs === undefined ? undefined : { graceMs });
      await jest.advanceTimersByTimeAsync(after - 1);
      expect(signal?.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(signal?.aborted).toBe(true);
      await jest.advanceTimersByTimeAsync(299);
      expect(closing).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect(closing.mock.calls).toEqual([[true]]);
      await closed;
    },
  );

  it('gives back what BullMQ hands out after that', async () => {
    const { run, close } = madeWorker();
    await close();
    await expect(run(job(), 'token')).rejects.toMatchObject({ name: 'DelayedError' });
  });

  it('ends within a second of its grace, even if BullMQ never answers', async () => {
    jest.useFakeTimers();
    const never = () => new Promise<void>(() => undefined);
    const { close, closing } = madeWorker({}, { pause: never });
    closing.mockImplementation(never);
    let ended = false;
    void close({ graceMs: 5_000 }).then(() => (ended = true));
    await jest.advanceTimersByTimeAsync(1_000); // for pause()
    expect(closing).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(699);
    expect(ended).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toBe(true);
  });
});
