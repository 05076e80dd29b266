import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { WebhookError } from '@call-webhooks/core';
import { createJobProcessor, type JobProcessor, type JobResult } from '@call-webhooks/core/stores';
import { type BullmqJobLike, giveBack, runBullmqJob } from '../src/bullmq-job.ts';
import { keepLock } from '../src/bullmq-lock.ts';

/** Fails `times` times, as a server does during a failover. */
const failing = (times: number) => {
  const call = jest.fn(() => Promise.resolve());
  for (let i = 0; i < times; i++) call.mockRejectedValueOnce(new Error('READONLY'));
  return call;
};

/** A job in its last attempt, whose handler and `deadLetter` fail. */
function lastAttempt(calls: Pick<BullmqJobLike, 'updateData' | 'moveToDelayed'>) {
  const controller = new AbortController();
  const job: BullmqJobLike = {
    ...{ id: '1', data: queuedCall('call-1'), opts: { attempts: 3 } },
    ...{ attemptsMade: 2, attemptsStarted: 3, stalledCounter: 0 },
    extendLock: () => Promise.resolve(1),
    ...calls,
  };
  const fail = () => {
    throw new Error('down');
  };
  const process = createJobProcessor({
    ...{ logger: collectingLogger(), on: { 'call:completed': fail }, deadLetter: fail },
  });
  const run = runBullmqJob(job, {
    ...{ process, strategy: () => 0, token: 'token', lockDuration: 30_000, maxCrashes: 5 },
    signal: controller.signal,
  });
  return { run, controller };
}

describe('a BullMQ job whose deadLetter failed', () => {
  // For a DelayedError, BullMQ leaves the job where it is: delayed, or active until it has stalled.
  const kept = expect.objectContaining({ name: 'DelayedError' });

  it('is delayed though Redis refuses a few calls', async () => {
    const [updateData, moveToDelayed] = [failing(2), failing(2)];
    await expect(lastAttempt({ updateData, moveToDelayed }).run).rejects.toEqual(kept);
    expect(updateData).toHaveBeenCalledTimes(3);
    expect(moveToDelayed).toHaveBeenCalledTimes(3);
  });

  it.each(['updateData', 'moveToDelayed'])(
    'is left to stall, not failed for good, while %s fails',
    async (name) => {
      const calls = { updateData: failing(0), moveToDelayed: failing(0), [name]: failing(100) };
      await expect(lastAttempt(calls).run).rejects.toEqual(kept);
      expect(calls[name as 'updateData']).toHaveBeenCalledTimes(5);
    },
  );

  it('is left to stall at once when the worker closes', async () => {
    const updateData = failing(100);
    const { run, controller } = lastAttempt({ updateData, moveToDelayed: failing(0) });
    controller.abort();
    await expect(run).rejects.toEqual(kept);
    expect(updateData.mock.calls.length).toBeLessThan(2);
  });

  it('is left to stall when the worker closes while it waits to try again', async () => {
    const updateData = jest.fn(() => Promise.reject(new Error('READONLY')));
    const { run, controller } = lastAttempt({ updateData, moveToDelayed: failing(0) });
    await waitFor(() => updateData.mock.calls.length === 1, { every: 1 });
    controller.abort();
    await expect(run).rejects.toEqual(kept);
    expect(updateData).toHaveBeenCalledTimes(1);
  });
});

describe('what a job notes', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const error = new WebhookError('handler-failed', 'the CRM is down');
  const DONE: JobResult = { status: 'done' };
  const DEAD: JobResult = { status: 'dead', error };
  const FAILED: JobResult = { status: 'retry', error };
  const DELIVERY = queuedCall('call-1');

  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  type Fields = Omit<BullmqJobLike, 'extendLock' | 'updateData' | 'moveToDelayed'>;

  /** A job in its first of three attempts. */
  function jobWith(more: Partial<Fields> = {}) {
    const fields: Fields = {
      ...{ id: '1', data: DELIVERY, opts: { attempts: 3 } },
      ...{ attemptsMade: 0, attemptsStarted: 1, stalledCounter: 0 },
      ...more,
    };
    return {
      ...fields,
      extendLock: jest.fn((_token: string, _duration: number) => Promise.resolve(1)),
      updateData: jest.fn((_data: object) => Promise.resolve()),
      moveToDelayed: jest.fn((_time: number, _token?: string) => Promise.resolve()),
    };
  }

  /** Runs a job whose processor gives this result. @returns what BullMQ sees, and what the processor got */
  async function run(job: BullmqJobLike, result: JobResult) {
    const process = jest.fn<JobProcessor>(() => Promise.resolve(result));
    const { signal } = new AbortController();
    const thrown = await runBullmqJob(job, {
      ...{ process, signal, token: 'token', lockDuration: 30_000, maxCrashes: 2 },
      strategy: (attempt, type) => (type === 'call-webhooks' ? attempt * 1_000 : -1),
    }).then(
      () => undefined,
      (error: unknown) => error,
    );
    const [delivery, how] = process.mock.calls[0]!;
    return { thrown, delivery, how: how! };
  }

  describe('a run of a BullMQ job', () => {
    it('gets the delivery, and where it stands', async () => {
      const job = jobWith({ attemptsMade: 1, attemptsStarted: 4 });
      const { thrown, delivery, how } = await run(job, DONE);
      expect(thrown).toBeUndefined();
      expect(delivery).toEqual(DELIVERY);
      expect(how).toMatchObject({ attempt: 4, maxRuns: 3, isLastAttempt: false });
      expect(how.abandonReason).toBeUndefined();
      expect(job.updateData).not.toHaveBeenCalled();
    });

    it.each([
      [{ attemptsMade: 1 }, false],
      [{ attemptsMade: 2 }, true],
      [{ attemptsMade: 3 }, true],
      [{ opts: {} }, true],
      [{ data: { ...DELIVERY, workerNote: { isLastRun: true } } }, true],
    ])('is the last one where BullMQ would not run it again: %j', async (more, isLast) => {
      const { how } = await run(jobWith(more), DONE);
      expect(how.isLastAttempt).toBe(isLast);
    });

    it.each([
      [2, {}, undefined],
      [3, {}, '3 workers died in this job.'],
      [5, { crashes: 3 }, undefined],
      [6, { crashes: 3 }, '3 workers died in this job.'],
      [0, { abandonReason: 'the attempts are used up' }, 'the attempts are used up'],
      [6, { abandonReason: 'the attempts are used up' }, 'the attempts are used up'],
    ])('after %d crashes, with the note %j, is given up for: %s', async (crashes, note, reason) => {
      const job = jobWith({ stalledCounter: crashes, data: { ...DELIVERY, workerNote: note } });
      const { how, delivery } = await run(job, DONE);
      expect(how.abandonReason).toEqual(reason === undefined ? undefined : new Error(reason));
      expect(delivery).toEqual(DELIVERY); // without the note
    });

    it('that fails is left to BullMQ, which runs it again', async () => {
      const job = jobWith();
      expect((await run(job, FAILED)).thrown).toBe(error);
      expect(job.updateData).not.toHaveBeenCalled();
      expect(job.moveToDelayed).not.toHaveBeenCalled();
    });
  });

  describe('a BullMQ job that is dead', () => {
    const unrecoverable = expect.objectContaining({
      name: 'UnrecoverableError',
      message: 'the CRM is down',
      cause: error,
    });

    it('after its last attempt, fails for good without a note', async () => {
      const job = jobWith({ attemptsMade: 2 });
      expect((await run(job, DEAD)).thrown).toEqual(unrecoverable);
      expect(job.updateData).not.toHaveBeenCalled();
    });

    it.each([
      ['before its last attempt', { stalledCounter: 1 }, 1],
      ['for crashes in its last attempt', { stalledCounter: 3, attemptsMade: 2 }, 3],
    ])('%s, is run once more when it is retried by hand', async (_when, more, crashes) => {
      const job = jobWith(more);
      expect((await run(job, DEAD)).thrown).toEqual(unrecoverable);
      const workerNote = { crashes, isLastRun: true };
      expect(job.updateData.mock.calls).toEqual([[{ ...DELIVERY, workerNote }]]);
      expect(job.extendLock.mock.calls).toEqual([['token', 30_000]]);
    });

    it('fails for good without a note if its lock was lost', async () => {
      const job = jobWith();
      job.extendLock.mockResolvedValueOnce(0);
      expect((await run(job, DEAD)).thrown).toEqual(unrecoverable);
      expect(job.updateData).not.toHaveBeenCalled();
    });
  });

  describe('a BullMQ job whose deadLetter failed', () => {
    const result: JobResult = { ...FAILED, abandonReason: 'the CRM is down' };
    const delayed = expect.objectContaining({
      name: 'DelayedError',
      message: 'the CRM is down',
      cause: error,
    });

    it('is delayed by the backoff, with the reason and what was noted before', async () => {
      const data = { ...DELIVERY, workerNote: { crashes: 1 } };
      const job = jobWith({ attemptsStarted: 7, data });
      expect((await run(job, result)).thrown).toEqual(delayed);
      const workerNote = { crashes: 1, abandonReason: 'the CRM is down' };
      expect(job.updateData.mock.calls).toEqual([[{ ...DELIVERY, workerNote }]]);
      expect(job.moveToDelayed.mock.calls).toEqual([[NOW + 7_000, 'token']]);
    });

    it('is left alone if its lock was lost: another run has it', async () => {
      const job = jobWith();
      job.extendLock.mockResolvedValueOnce(0);
      expect((await run(job, result)).thrown).toEqual(delayed);
      expect(job.updateData).not.toHaveBeenCalled();
      expect(job.moveToDelayed).not.toHaveBeenCalled();
    });
  });

  describe('a BullMQ job that is given back', () => {
    it.each([
      ['is delayed, since a worker that closes may still wait for a due job', false],
      ['is in the queue already if its lock was lost', true],
    ])('%s', async (_name, isLost) => {
      const job = jobWith();
      if (isLost) job.moveToDelayed.mockRejectedValueOnce(new Error('Missing lock'));
      await expect(giveBack(job, 'token')).rejects.toMatchObject({
        name: 'DelayedError',
        message: 'The worker closed, or lost the lock of the job.',
      });
      expect(job.moveToDelayed.mock.calls).toEqual([[NOW + 1_000, 'token']]);
    });
  });
});

describe('the lock of a run', () => {
  /** A third of it is 10 s. */
  const DURATION = 30_000;

  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** A lock that is kept. @param extendLock what BullMQ's job does */
  function kept(extendLock: () => Promise<number>) {
    const controller = new AbortController();
    const extend = jest.fn(extendLock);
    const onLost = jest.fn();
    const stop = keepLock({ extendLock: extend }, 'token', {
      ...{ duration: DURATION, signal: controller.signal, onLost },
    });
    return { extend, onLost, stop, controller };
  }

  it('is extended by its whole duration each time a third has passed', async () => {
    const { extend, onLost, stop } = kept(() => Promise.resolve(1));
    await jest.advanceTimersByTimeAsync(9_999);
    expect(extend).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(extend.mock.calls).toEqual([['token', DURATION]]);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(extend).toHaveBeenCalledTimes(3);
    expect(onLost).not.toHaveBeenCalled();
    stop();
  });

  it('is reported once if another run has it, and extended no more', async () => {
    const { extend, onLost } = kept(() => Promise.resolve(0));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(extend).toHaveBeenCalledTimes(1);
  });

  it('is extended later if Redis does not answer', async () => {
    const { extend, onLost, stop } = kept(() => Promise.reject(new Error('down')));
    await jest.advanceTimersByTimeAsync(20_000);
    expect(extend).toHaveBeenCalledTimes(2);
    expect(onLost).not.toHaveBeenCalled();
    stop();
  });

  it.each(['stopped', 'aborted'])('is left alone once the run is %s', async (how) => {
    const { extend, stop, controller } = kept(() => Promise.resolve(1));
    if (how === 'stopped') stop();
    else controller.abort();
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(extend).not.toHaveBeenCalled();
  });

  it.each([0, 1])(
    'is left alone once the run has ended while it was extended, with reply %d',
    async (reply) => {
      const replied = deferred<number>();
      const { extend, onLost, stop } = kept(() => replied.promise);
      await jest.advanceTimersByTimeAsync(10_000);
      stop();
      replied.resolve(reply);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(extend).toHaveBeenCalledTimes(1);
      expect(onLost).not.toHaveBeenCalled();
    },
  );

  it('leaves no listener on the signal of a run that ended', () => {
    const { stop, controller } = kept(() => Promise.resolve(1));
    const remove = jest.spyOn(controller.signal, 'removeEventListener');
    stop();
    expect(remove).toHaveBeenCalledWith('abort', stop);
  });
});
