import { describe, expect, it } from '@jest/globals';
import { continuedJobId } from '../src/job-id.ts';
import { continueJob } from '../src/pg-boss-job.ts';
import type { PgBossJob } from '../src/pg-boss.ts';
import { BEYOND, DELIVERY, fetchedJob, recordingBoss } from './recording-boss.ts';

const QUEUES = { queue: 'calls', deadLetterQueue: 'calls-dead', schema: 'pgboss' };

/** Continues a job that was sent by hand with two retries. */
async function continued(more: Partial<PgBossJob> = {}) {
  const recorded = recordingBoss();
  const job = fetchedJob({ retryLimit: 2, ...more });
  await continueJob(job, { ...QUEUES, boss: recorded.boss });
  return recorded;
}

describe('a job that was sent by hand is continued', () => {
  it('by one that gets as many runs, under an id that comes from its own, and is completed afterwards', async () => {
    const { calls } = await continued({
      ...{ retryDelay: 7, retryBackoff: true, expireInSeconds: '90.200000' },
      keepUntil: '2026-01-01T01:00:00Z',
    });
    const id = await continuedJobId('job-1');
    const options = {
      ...{ id, retryLimit: BEYOND + 2, retryDelay: 7, retryBackoff: true },
      ...{ expireInSeconds: 91, retentionSeconds: 3_600 },
    };
    expect(calls).toStrictEqual([
      ['send', 'calls', DELIVERY, options],
      ['complete', 'calls', 'job-1', { continuedBy: id }],
    ]);
  });

  it('by one with the same queue for dead jobs, if it names one', async () => {
    const { callsOf } = await continued({ deadLetter: 'mine' });
    expect(callsOf('send')[0]![2]).toMatchObject({ deadLetter: 'mine' });
  });

  it.each([null, undefined, 5])(
    'though its data are %p: pg-boss takes objects only',
    async (data) => {
      const { callsOf } = await continued({ data });
      expect(callsOf('send')[0]![1]).toEqual(Object(data));
    },
  );

  it('before it is completed: a send that fails leaves it to another run', async () => {
    const error = new Error('the disk is full');
    const { boss, callsOf } = recordingBoss({
      send() {
        throw error;
      },
    });
    await expect(continueJob(fetchedJob(), { ...QUEUES, boss })).rejects.toBe(error);
    expect(callsOf('complete')).toEqual([]);
  });
});
