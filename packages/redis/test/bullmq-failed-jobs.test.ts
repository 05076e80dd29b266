import { describe, expect, it, jest } from '@jest/globals';
import { bullmqDeadJobs, type BullmqFailedJob } from '../src/bullmq-dead-jobs.ts';
import { bullmqQueue } from '../src/index.ts';
import { DELIVERY, failedJob, manyJobs, queueOf } from './failed-jobs.ts';

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
  ])('are not requeued twice: BullMQ finds that the job %s', async (_name, error) => {
    const job = failedJob();
    job.retry.mockRejectedValueOnce(error);
    expect(await bullmqDeadJobs(queueOf([job])).requeue('job')).toBe(false);
  });

  it.each<[string, object]>([
    ['another code', { message: 'Missing key for job 1. reprocessJob', code: -2 }],
    ['another message', { message: 'Connection is closed.' }],
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

const idsOf = (letters: readonly { id: string }[]) => letters.map(({ id }) => id);

describe('a list of the failed jobs', () => {
  it('has all of them in their order, page by page', async () => {
    const jobs = manyJobs(350);
    const deadJobs = bullmqDeadJobs(queueOf(jobs));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await deadJobs.list({ limit: 40, cursor });
      seen.push(...idsOf(page.letters));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(jobs.map(({ id }) => id));
  });

  it('begins and ends at the times that are asked for', async () => {
    const deadJobs = bullmqDeadJobs(queueOf(manyJobs(350)));
    const query = { since: new Date(1_010), until: new Date(1_012) };
    const expected = ['0030', '0031', '0032', '0033', '0034', '0035'];
    expect(idsOf((await deadJobs.list(query)).letters)).toEqual(expected);
    expect(await deadJobs.count({ since: new Date(1_116) })).toBe(2);
    expect(await deadJobs.count({ since: new Date(1_117) })).toBe(0);
    expect(await deadJobs.count({ until: new Date(1_000) })).toBe(0);
  });

  it('reads nothing before its beginning, which it finds in few steps', async () => {
    const queue = queueOf(manyJobs(350));
    await bullmqDeadJobs(queue).list({ since: new Date(1_115), limit: 1 });
    const calls = jest.mocked(queue.getJobs).mock.calls.map(([, from, to]) => [from, to]);
    expect(calls.findIndex(([from, to]) => from !== to)).toBeLessThan(10);
    expect(calls.find(([from, to]) => from !== to)).toEqual([345, 444]);
    const first = queueOf(manyJobs(5));
    await bullmqDeadJobs(first).list({ limit: 1 });
    expect(first.getFailedCount).not.toHaveBeenCalled();
  });

  it.each([
    [1_000, '0004'],
    [1_001, '0004'],
    [1_002, '0006'],
  ])(
    'goes on behind its cursor, but not before %d, if it is to begin then',
    async (since, next) => {
      const deadJobs = bullmqDeadJobs(queueOf(manyJobs(9)));
      const { cursor } = await deadJobs.list({ limit: 4 }); // behind 0003, which failed at 1,001
      const { letters } = await deadJobs.list({ cursor, since: new Date(since) });
      expect(idsOf(letters)[0]).toBe(next);
    },
  );

  it('leaves out jobs that were removed or retried while they were read, and what has no id', async () => {
    const jobs: (BullmqFailedJob | undefined)[] = manyJobs(9);
    jobs[2] = undefined;
    jobs[4] = failedJob({ id: '0004', finishedOn: null });
    jobs[6] = failedJob({ id: undefined, finishedOn: 1_002 });
    expect(idsOf((await bullmqDeadJobs(queueOf(jobs)).list()).letters)).toEqual([
      ...['0000', '0001', '0003', '0005', '0007', '0008'],
    ]);
  });

  it('goes on behind a page of jobs that are not of a receiver', async () => {
    const others = manyJobs(250).map((job) => ({ ...job, data: { to: 'somebody' } }));
    const last = failedJob({ id: 'last', finishedOn: 5_000 });
    const deadJobs = bullmqDeadJobs(queueOf([...others, last]));
    expect(idsOf((await deadJobs.list()).letters)).toEqual(['last']);
  });

  it('goes on behind a page of jobs that were removed while they were read', async () => {
    const gone = Array.from({ length: 250 }, () => undefined);
    const deadJobs = bullmqDeadJobs(queueOf([...gone, failedJob()]));
    expect(idsOf((await deadJobs.list()).letters)).toEqual(['job']);
  });
});

it('counts of the jobs that have expired those that it removed, and no other', async () => {
  const jobs = ['one', 'retried', 'gone', 'other'].map((id, at) =>
    failedJob({ id, finishedOn: 1_000 + at }),
  );
  jobs[1]!.isFailed.mockResolvedValue(false);
  const failed = queueOf(jobs);
  const { removeExpired } = bullmqQueue({
    ...failed,
    getJob: (id) => (id === 'gone' ? Promise.resolve(undefined) : failed.getJob(id)),
    add: () => Promise.resolve(),
    isPaused: () => Promise.resolve(false),
  });
  const turn = { token: 'token', leaseMs: 60_000 };
  const remove = (before: number, limit: number) =>
    removeExpired!({ ...turn, before: new Date(before), limit });
  expect(await remove(1_000, 10)).toBe(0);
  expect(await remove(1_003, 1)).toBe(1);
  expect(jobs.map((job) => job.remove.mock.calls.length)).toEqual([1, 0, 0, 0]);
  expect(await remove(1_004, 10)).toBe(2); // this queue lists the first one still
  expect(jobs.map((job) => job.remove.mock.calls.length)).toEqual([2, 0, 0, 1]);
});
