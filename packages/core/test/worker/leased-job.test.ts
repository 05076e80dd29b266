import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { type HandlerContext, WebhookError } from '../../src/index.ts';
import {
  createJobProcessor,
  type JobProcessor,
  type JobResult,
  type LeasedJob,
  LeasedJobRun,
  RunningJobs,
  type WorkerJob,
} from '../../src/stores.ts';
import { bytes, deferred, NOW, SECONDS, STARTED } from '../support.ts';

describe('LeasedJobRun', () => {
  const delivery = { webhookId: 'id-1', timestamp: 1, receivedAt: 1, body: '' };

  /** A job whose writes are noted, and a processor that ends when it is told to. */
  function leased(more: Partial<LeasedJob> = {}) {
    const log: string[] = [];
    const note = (line: string) => Promise.resolve(void log.push(line));
    const result = deferred<JobResult>();
    let seen: WorkerJob = {};
    const job: LeasedJob = {
      delivery,
      attempt: 1,
      isLastAttempt: false,
      complete: () => note('complete'),
      retry: (message, reason) => note(`retry ${message} ${String(reason)}`),
      moveToDead: (message) => note(`dead ${message}`),
      release: () => note('release'),
      ...more,
    };
    const logger = collectingLogger();
    const process: JobProcessor = (_delivery, options) => {
      seen = options ?? {};
      return result.promise;
    };
    const run = new LeasedJobRun(job, process, logger);
    return { log, logger, run, result, signal: () => seen.signal as AbortSignal };
  }
  const aborted = (signal: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
  const some = () => Promise.resolve();
  const idle = () => new AbortController().signal;

  it('never releases a job whose success is being written: it would run again', async () => {
    const written = deferred();
    const { log, run, result } = leased({ complete: () => written.promise });
    const done = run.run(idle());
    result.resolve({ status: 'done' });
    await new Promise((resolve) => setTimeout(resolve, 1));
    await run.release();
    written.resolve();
    await done;
    expect(log).toEqual([]);
  });

  it('writes nothing for a job that it released', async () => {
    const { log, run, result } = leased();
    const done = run.run(idle());
    await run.release();
    result.resolve({ status: 'done' });
    await done;
    expect(log).toEqual(['release']);
  });

  it('keeps no timer after its release, even if the handler never ends', async () => {
    jest.useFakeTimers();
    try {
      const extend = () => Promise.resolve(true);
      const { run } = leased({ expiresIn: 300_000, extendEvery: 20_000, extend });
      void run.run(idle());
      expect(jest.getTimerCount()).toBe(2);
      await run.release();
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('counts the lease from when it asked for the job, however late the engine answered', async () => {
    jest.useFakeTimers();
    try {
      const renewed: number[] = [];
      const takenAt = performance.now();
      await jest.advanceTimersByTimeAsync(9_500);
      const extend = () => {
        renewed.push(performance.now() - takenAt);
        return Promise.resolve(true);
      };
      const { log, run, signal } = leased({
        ...{ takenAt, expiresIn: 30_000, extendEvery: 10_000 },
        extend,
      });
      void run.run(idle());
      await jest.advanceTimersByTimeAsync(500);
      expect(renewed).toEqual([10_000]);
      await jest.advanceTimersByTimeAsync(19_999);
      expect(signal().aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(signal().aborted).toBe(true);
      // It may run elsewhere.
      await run.release();
      expect(log).toEqual([]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes again after 0.25 s, and twice as long each time up to 4 s, and tells a logger of the job', async () => {
    jest.useFakeTimers();
    try {
      const writtenAt: number[] = [];
      const complete = () =>
        writtenAt.push(Date.now()) < 9 ? Promise.reject(new Error('down')) : some();
      const { run, result, logger } = leased({ complete });
      result.resolve({ status: 'done' });
      const done = run.run(idle());
      await jest.advanceTimersByTimeAsync(60_000);
      await done;
      const pauses = writtenAt.slice(1).map((at, index) => at - (writtenAt[index] ?? 0));
      expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 4_000]);
      expect(logger.entries.map(({ level }) => level)).toEqual(['warn', 'info']);
      expect(logger.entries[0]?.fields).toMatchObject({ webhookId: 'id-1', attempt: 1 });
    } finally {
      jest.useRealTimers();
    }
  });

  it('writes neither a release nor a failure of an expired job, which may run elsewhere', async () => {
    const error = new WebhookError('handler-failed', 'no');
    for (const end of [{ status: 'dead', error }, { status: 'retry', error }, undefined] as const) {
      const { log, run, result, signal } = leased({ expiresIn: 1 });
      const done = run.run(idle());
      await aborted(signal());
      await new Promise((resolve) => setTimeout(resolve, 2)); // a timer may be early by a fraction
      if (!end) await run.release();
      result.resolve(end ?? { status: 'done' });
      await done;
      expect(log).toEqual([]);
    }
  });

  it('continues when extend throws', async () => {
    const extended = deferred();
    const extend = () => {
      extended.resolve();
      throw new Error('closed');
    };
    const { log, run, result, signal } = leased({ extendEvery: 1, extend });
    const done = run.run(idle());
    await extended.promise;
    expect(signal().aborted).toBe(false);
    result.resolve({ status: 'done' });
    await done;
    expect(log).toEqual(['complete']);
  });

  it('aborts the handler when the lease is lost, when it expires, and when the worker stops', async () => {
    const lost = leased({ extendEvery: 2, extend: () => Promise.resolve(false) });
    const expired = leased({ expiresIn: 2 });
    const stopped = leased();
    const stop = new AbortController();
    const runs = [lost.run.run(idle()), expired.run.run(idle()), stopped.run.run(stop.signal)];
    stop.abort();
    for (const { signal } of [lost, expired, stopped]) await aborted(signal());
    for (const { result } of [lost, expired, stopped]) result.resolve({ status: 'done' });
    await Promise.all(runs);
    expect(expired.log).toEqual(['complete']); // its effect has happened
  });

  it('removes its listeners from a signal that outlives it', async () => {
    const added: unknown[] = [];
    const stop = new AbortController().signal;
    const { addEventListener, removeEventListener } = stop;
    stop.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      added.push(args[1]);
      addEventListener.apply(stop, args);
    };
    stop.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      if (args[0] === 'abort') added.splice(added.indexOf(args[1]), 1);
      removeEventListener.apply(stop, args);
    };
    for (let number = 0; number < 3; number++) {
      const { run, result } = leased();
      result.resolve({ status: 'done' });
      await run.run(stop);
    }
    expect(added).toEqual([]);
  });
});

describe('transactions and leases', () => {
  const delivery = {
    ...{ webhookId: 'id-1', timestamp: SECONDS, receivedAt: NOW },
    body: Buffer.from(bytes(JSON.stringify(STARTED))).toString('base64'),
  };

  /** A job of a handler, and what is written of its end. */
  function leased(handle: (context: HandlerContext) => unknown, more: Partial<LeasedJob> = {}) {
    const written: string[] = [];
    const errors: unknown[] = [];
    const note = (text: string) => Promise.resolve(void written.push(text));
    const job: LeasedJob = {
      ...{ delivery, attempt: 1, isLastAttempt: false },
      complete: () => note('complete'),
      retry: (message) => note(`retry: ${message}`),
      moveToDead: (message) => note(`dead: ${message}`),
      release: () => note('release'),
      ...more,
    };
    const logger = collectingLogger();
    const process = createJobProcessor({
      logger,
      onError: (error) => void errors.push(error),
      on: { 'call:started': (_event, context) => handle(context) },
    });
    const stop = new AbortController();
    const run = new LeasedJobRun(job, process, logger);
    return { written, errors, stop, run, done: run.run(stop.signal) };
  }

  /** The transaction of a job that may complete, and that its engine tells to be completed or not. */
  const transaction = (isCompleted: () => Promise<boolean>, isHeld = true) => ({
    transaction: { completeIn: () => Promise.resolve(isHeld), isCompleted },
  });

  describe('a leased job with a transaction', () => {
    it('is not asked for if the handler did not call completeIn', async () => {
      const isCompleted = jest.fn(() => Promise.resolve(true));
      const { written, done } = leased(() => undefined, transaction(isCompleted));
      await done;
      expect(isCompleted).not.toHaveBeenCalled();
      expect(written).toEqual(['complete']);
    });

    it('writes and reports nothing if the transaction completed it', async () => {
      const handle = ({ completeIn }: HandlerContext) => completeIn('tx');
      const { written, errors, done } = leased(
        handle,
        transaction(() => Promise.resolve(true)),
      );
      await done;
      expect([written, errors]).toEqual([[], []]);
    });

    it('says that it may run elsewhere if it was lost', async () => {
      const handle = ({ completeIn }: HandlerContext) => completeIn('tx');
      const { written, done } = leased(
        handle,
        transaction(() => Promise.resolve(false), false),
      );
      await done;
      expect(written).toEqual([
        'retry: The handler failed: UnsettledRun: The job was lost while its handler ran, so another worker may run it.',
      ]);
    });

    it('says why the queue could not be asked', async () => {
      const handle = ({ completeIn }: HandlerContext) => completeIn('tx');
      const asked = deferred();
      const { written, stop, done } = leased(
        handle,
        transaction(() => {
          asked.resolve();
          return Promise.reject(new Error('closed'));
        }),
      );
      await asked.promise;
      stop.abort();
      await done;
      expect(written).toEqual([
        'retry: The handler failed: UnsettledRun: The queue did not say whether the transaction of completeIn was committed.; cause: Error: The worker was stopped in the meantime.',
      ]);
    });
  });

  describe('the lease of a job', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    /** Whether the handler is told to stop within a second, during which it waits. */
    async function isAborted(more: Partial<LeasedJob>, callsCompleteIn = false) {
      const end = deferred();
      let signal: AbortSignal | undefined;
      const { done } = leased(async (context) => {
        signal = context.signal;
        if (callsCompleteIn) await context.completeIn('tx');
        await end.promise;
      }, more);
      await jest.advanceTimersByTimeAsync(1_000);
      const { aborted } = signal as unknown as AbortSignal;
      end.resolve();
      await done;
      return aborted;
    }
    const answers = (isHeld: boolean) => ({ extend: jest.fn(() => Promise.resolve(isHeld)) });

    it('is held until the engine says that it was lost', async () => {
      expect(await isAborted({ ...answers(true), extendEvery: 100 })).toBe(false);
      expect(await isAborted({ ...answers(false), extendEvery: 100 })).toBe(true);
    });

    it('may be gone after completeIn, because the job is completed', async () => {
      const completed = transaction(() => Promise.resolve(true));
      const job = { ...answers(false), extendEvery: 100, ...completed };
      expect(await isAborted(job, true)).toBe(false);
    });

    it('is not renewed without an interval', async () => {
      const { extend } = answers(false);
      expect(await isAborted({ extend })).toBe(false);
      expect(extend).not.toHaveBeenCalled();
    });

    it('is not released at the moment at which it expires', async () => {
      const end = deferred();
      const { written, run, done } = leased(() => end.promise, { expiresIn: 1_000 });
      await jest.advanceTimersByTimeAsync(1_000);
      await run.release();
      end.resolve();
      await done;
      expect(written).toEqual([]);
    });

    it('ends with a dead job after the last attempt', async () => {
      const { written, done } = leased(() => Promise.reject(new Error('no')), {
        isLastAttempt: true,
      });
      await done;
      expect(written).toEqual(['dead: The handler failed: Error: no']);
    });
  });
});

describe('the running jobs of a worker', () => {
  it('can be aborted one by one, also after they ended', async () => {
    const running = new RunningJobs<string>();
    const end = deferred();
    const signals: AbortSignal[] = [];
    const work = async (signal: AbortSignal) => {
      signals.push(signal);
      await end.promise;
    };
    await running.run('ended', () => Promise.resolve());
    const both = [running.run('one', work), running.run('other', work)];
    running.abort(['ended', 'other']);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    end.resolve();
    await Promise.all(both);
    expect(running.size).toBe(0);
  });
});
