import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import type { HandlerContext } from '../../src/index.ts';
import { createJobProcessor, LeasedJobRun, type LeasedJob } from '../../src/stores.ts';
import { bytes, deferred, NOW, SECONDS, STARTED } from '../support.ts';

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
      'retry: The handler failed: UnsettledRun: The job was lost while its handler ran: it may run elsewhere.',
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
      'retry: The handler failed: UnsettledRun: The queue could not be asked whether the transaction of completeIn was committed.; cause: Error: The worker was stopped meanwhile.',
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
