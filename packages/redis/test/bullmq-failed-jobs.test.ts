import { describe, expect, it } from '@jest/globals';
import { bullmqDeadJobs, type BullmqFailedJob } from '../src/bullmq-dead-jobs.ts';
import { DELIVERY, failedJob, queueOf } from './failed-jobs.ts';

describe('the failed jobs of BullMQ as dead letters', () => {
  it('have what BullMQ keeps of them', async () => {
    const letter = await bullmqDeadJobs(queueOf([failedJob()])).get('job');
    expect(letter).toMatchObject({
      ...{ id: 'job', attempt: 3, error: 'the CRM is down' },
      ...{ webhookId: DELIVERY.webhookId, eventName: 'call:completed', source: 'queue' },
      failedAt: new Date(1_000),
    });
  });

  it('have an empty message if BullMQ has none', async () => {
    const letter = await bullmqDeadJobs(queueOf([failedJob({ failedReason: null })])).get('job');
    expect(letter?.error).toBe('');
  });

  const { body: _body, ...withoutBody } = DELIVERY;
  const { webhookId: _id, ...withoutId } = DELIVERY;
  const { timestamp: _timestamp, ...withoutTimestamp } = DELIVERY;
  it.each<[string, Partial<BullmqFailedJob>]>([
    ['no data', { data: undefined }],
    ['no body', { data: withoutBody }],
    ['no webhook id', { data: withoutId }],
    ['no timestamp', { data: withoutTimestamp }],
    ['no time of its end', { finishedOn: undefined }],
    ['null as the time of its end', { finishedOn: null }],
  ])('are no jobs with %s: they are not of a receiver, or not failed', async (_name, more) => {
    const job = failedJob(more);
    const deadJobs = bullmqDeadJobs(queueOf([job]));
    expect(await deadJobs.get('job')).toBeUndefined();
    expect(await deadJobs.requeue('job')).toBe(false);
    expect(await deadJobs.remove('job')).toBe(false);
    expect(await deadJobs.count()).toBe(0);
    expect(job.retry).not.toHaveBeenCalled();
    expect(job.remove).not.toHaveBeenCalled();
  });

  it('are no jobs that have been retried, which are not failed any more', async () => {
    const job = failedJob();
    job.isFailed.mockResolvedValue(false);
    const deadJobs = bullmqDeadJobs(queueOf([job]));
    expect(await deadJobs.get('job')).toBeUndefined();
    expect(await deadJobs.requeue('job')).toBe(false);
    expect(job.retry).not.toHaveBeenCalled();
  });

  it('are requeued and removed with the calls of BullMQ', async () => {
    const job = failedJob();
    const deadJobs = bullmqDeadJobs(queueOf([job]));
    expect(await deadJobs.requeue('job')).toBe(true);
    expect(job.retry.mock.calls).toEqual([['failed']]);
    expect(await deadJobs.remove('job')).toBe(true);
    expect(job.remove).toHaveBeenCalledTimes(1);
    expect(await deadJobs.remove('another')).toBe(false);
  });

  it.each<[string, object]>([
    ['is missing', { message: 'Missing key for job 1. reprocessJob', code: -1 }],
    ['is not failed', { message: 'Job 1 is not in the failed state. reprocessJob', code: -3 }],
    ['is missing (an old version)', { message: 'Missing key for job 1. reprocessJob' }],
    ['is not failed (an old version)', { message: 'Job 1 is not in the failed state.' }],
  ])('are not requeued twice: BullMQ finds that the job %s', async (_name, error) => {
    const job = failedJob();
    job.retry.mockRejectedValueOnce(error);
    expect(await bullmqDeadJobs(queueOf([job])).requeue('job')).toBe(false);
  });

  it.each<[string, object]>([
    ['another code', { message: 'Missing key for job 1. reprocessJob', code: -2 }],
    ['another message', { message: 'Connection is closed.' }],
    ['a message that quotes another', { message: 'ERR Missing key for job' }],
  ])('tell of other errors: %s', async (_name, error) => {
    const job = failedJob();
    job.retry.mockRejectedValueOnce(error);
    await expect(bullmqDeadJobs(queueOf([job])).requeue('job')).rejects.toBe(error);
  });

  it.each(['getJob', 'getJobs', 'getFailedCount'])('need a queue with %s()', (method) => {
    expect(() => bullmqDeadJobs({ ...queueOf([]), [method]: undefined })).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(
          'Invalid queue of bullmqDeadJobs: expected a Queue of BullMQ, such as new Queue("calls", { connection }).',
        ),
      }),
    );
  });
});
