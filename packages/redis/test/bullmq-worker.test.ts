import { once } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { job, madeWorker } from './made-worker.ts';

describe('a worker of BullMQ', () => {
  afterEach(() => void jest.useRealTimers());

  describe('createBullmqWorker', () => {
    it('gives BullMQ what it needs, so that BullMQ itself gives no job up and renews no lock', () => {
      const { name, settings } = madeWorker();
      expect(name).toBe('calls');
      expect(settings).toEqual({
        concurrency: 4,
        connection: { port: 6379 },
        maxStalledCount: 1e9,
        skipLockRenewal: true,
        settings: { backoffStrategy: expect.any(Function) },
      });
    });

    it('passes on options of BullMQ, but for those that it needs itself', () => {
      const { settings } = madeWorker({
        concurrency: 9,
        bullmq: { prefix: 'p', lockDuration: 500, maxStalledCount: 1, connection: {} },
      });
      expect(settings).toMatchObject({
        ...{ concurrency: 9, prefix: 'p', lockDuration: 500, maxStalledCount: 1e9 },
        connection: { port: 6379 },
      });
    });

    it('logs the errors of BullMQ, redacted as its options say', () => {
      const { listeners, logger } = madeWorker({
        redact: (text: string) => text.replace('a', '***'),
      });
      listeners.get('error')?.(new Error('a'));
      expect(logger.entries).toMatchObject([
        { message: "call-webhooks: BullMQ's worker: Error: ***" },
      ]);
    });

    it.each([
      [undefined, 10_000],
      [600, 200],
    ])('renews a lock of %s ms (30,000 by default) every %d ms', async (lockDuration, every) => {
      jest.useFakeTimers();
      const ends = deferred();
      const { run } = madeWorker({
        on: { 'call:completed': () => ends.promise },
        bullmq: { lockDuration },
      });
      const one = job();
      const running = run(one, 'token');
      await jest.advanceTimersByTimeAsync(every - 1);
      expect(one.extendLock).not.toHaveBeenCalled();
      await jest.advanceTimersByTimeAsync(1);
      expect(one.extendLock.mock.calls).toEqual([['token', every * 3]]);
      ends.resolve();
      await running;
      await jest.advanceTimersByTimeAsync(every * 2);
      expect(one.extendLock).toHaveBeenCalledTimes(1);
    });
  });

  describe('a job that lost its lock', () => {
    it('is aborted, with a line that says what to do; a lock without a token is none', async () => {
      jest.useFakeTimers();
      let aborted: Promise<unknown> | undefined;
      const { run, logger } = madeWorker({
        on: {
          'call:completed': (_event: unknown, { signal }: { signal: AbortSignal }) =>
            (aborted = once(signal, 'abort')),
        },
      });
      const one = job();
      one.extendLock.mockImplementation(() => Promise.resolve(0));
      const running = run(one); // BullMQ's types allow for no token
      await jest.advanceTimersByTimeAsync(10_000);
      await aborted;
      await running;
      expect(one.extendLock.mock.calls).toEqual([['', 30_000]]);
      expect(logger.entries).toEqual([
        {
          level: 'warn',
          message:
            'call-webhooks: a job of BullMQ lost its lock. Its handler is aborted, and it runs again.',
          fields: {
            ...{ queue: 'calls', jobId: '1' },
            docs: expect.stringMatching(/\/queues\.html#bullmq$/),
          },
        },
      ]);
    });
  });
});

describe('a worker that is closed', () => {
  afterEach(() => void jest.useRealTimers());

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
