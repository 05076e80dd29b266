import { describe, expect, it, jest } from '@jest/globals';
import { bullmqDeadJobs, type BullmqFailedJob } from '../src/bullmq-dead-jobs.ts';
import { failedJob, manyJobs, queueOf } from './failed-jobs.ts';

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
