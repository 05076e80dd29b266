import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { WebhookError } from '../../src/index.ts';
import {
  LeasedJobRun,
  type JobProcessor,
  type JobResult,
  type LeasedJob,
  type WorkerJob,
} from '../../src/stores.ts';
import { deferred } from '../support.ts';

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

describe('LeasedJobRun', () => {
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

  it('writes again until the engine takes it, and tells a logger of the job', async () => {
    jest.useFakeTimers();
    try {
      let refused = 0;
      const complete = () => (++refused < 9 ? Promise.reject(new Error('down')) : some());
      const { run, result, logger } = leased({ complete });
      result.resolve({ status: 'done' });
      const done = run.run(idle());
      await jest.advanceTimersByTimeAsync(60_000);
      await done;
      expect(refused).toBe(9);
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
