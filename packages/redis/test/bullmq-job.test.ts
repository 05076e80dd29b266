import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import { createJobProcessor } from '@call-webhooks/core/stores';
import { runBullmqJob, type BullmqJobLike } from '../src/bullmq-job.ts';

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
