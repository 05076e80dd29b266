import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { leasedJob } from '../src/pg-boss-job.ts';
import type { PgBossJob } from '../src/pg-boss.ts';
import { BEYOND, DELIVERY, fetchedJob, recordingBoss } from './recording-boss.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => void jest.useRealTimers());

const QUEUES = { queue: 'calls', deadLetterQueue: 'calls-dead', schema: 'pgboss' };
const EARLIER = { at: 5, attempt: 1, error: 'the CRM was down' };

function leased(more: Partial<PgBossJob> = {}, replies: Parameters<typeof recordingBoss>[0] = {}) {
  const recorded = recordingBoss(replies);
  return { ...recorded, job: leasedJob(fetchedJob(more), { ...QUEUES, boss: recorded.boss }) };
}

describe('a fetched job', () => {
  it('has its delivery, its attempt, and the time of its run in milliseconds', () => {
    const { job, calls } = leased({ retryCount: 2, expireInSeconds: '90.500000' });
    expect(job).toMatchObject({
      ...{ delivery: DELIVERY, attempt: 3, maxRuns: 3, isLastAttempt: true },
      expiresIn: 90_500,
    });
    expect(job.abandonReason).toBeUndefined();
    expect(calls).toEqual([]);
  });

  it('has the reason why it was given up before, as an error', () => {
    const { job } = leased({ output: { abandonReason: 'the CRM is down' } });
    expect(job.abandonReason).toEqual(new Error('the CRM is down'));
  });

  it('asks for its own completion', async () => {
    const { job, callsOf } = leased({ retryCount: 4 });
    expect(await job.transaction!.isCompleted()).toBe(false);
    expect(callsOf('executeSql')).toEqual([
      [expect.stringContaining('pgboss.job'), ['calls', 'job-1', 4]],
    ]);
  });

  it('is completed without an output', async () => {
    const { job, calls } = leased();
    await job.complete();
    expect(calls).toEqual([['complete', 'calls', 'job-1']]);
  });

  it('is failed with its failures, the newest last', async () => {
    const { job, calls } = leased({ retryCount: 1, output: { failures: [EARLIER] } });
    await job.retry('down', undefined);
    const failures = [EARLIER, { at: NOW, attempt: 2, error: 'down' }];
    expect(calls).toStrictEqual([['fail', 'calls', 'job-1', { message: 'down', failures }]]);
  });

  it.each([null, {}])('is failed with its first failure, after the output %p', async (output) => {
    const { job, calls } = leased({ output });
    await job.retry('down', 'no use');
    const failures = [{ at: NOW, attempt: 1, error: 'down' }];
    expect(calls).toStrictEqual([
      ['fail', 'calls', 'job-1', { message: 'down', failures, abandonReason: 'no use' }],
    ]);
  });

  it('is released as a failure that does not count', async () => {
    const { job, calls } = leased({ output: { failures: [EARLIER] } });
    await job.release();
    expect(calls).toStrictEqual([
      [
        ...['fail', 'calls', 'job-1'],
        {
          message: 'The worker was closed before the handler ended.',
          failures: [EARLIER],
          released: true,
        },
      ],
    ]);
  });

  it('is released with the reason why it was given up, which is then tried again', async () => {
    const { job, calls } = leased({ output: { abandonReason: 'no use' } });
    await job.release();
    expect(calls[0]![3]).toStrictEqual({
      message: 'The worker was closed before the handler ended.',
      failures: [],
      abandonReason: 'no use',
    });
  });
});

describe('a dead job', () => {
  it('is kept in the queue for dead jobs, which is created if it is missing, before it is completed', async () => {
    const { job, calls } = leased(
      { retryCount: 2, output: { failures: [EARLIER] }, expireInSeconds: '90.200000' },
      { getQueue: () => null },
    );
    await job.moveToDead('down');
    const failure = {
      ...{ attempt: 3, retryDelay: 60, expireInSeconds: 91 },
      failures: [EARLIER, { at: NOW, attempt: 3, error: 'down' }],
    };
    expect(calls).toStrictEqual([
      ['getQueue', 'calls-dead'],
      ['createQueue', 'calls-dead'],
      ['getQueue', 'calls'],
      ['createQueue', 'calls'],
      [
        ...['send', 'calls-dead', { ...DELIVERY, failure }],
        { id: 'job-1', retentionSeconds: 86_400 },
      ],
      ['complete', 'calls', 'job-1', { message: 'down' }],
    ]);
  });

  it('goes to the queue that it names itself', async () => {
    const { job, callsOf } = leased({ deadLetter: 'mine' });
    await job.moveToDead('down');
    expect(callsOf('getQueue')).toEqual([['mine'], ['calls']]);
    expect(callsOf('send')).toEqual([['mine', expect.anything(), expect.anything()]]);
  });

  it('is not completed before its copy is kept', async () => {
    const error = new Error('the disk is full');
    const { job, callsOf } = leased(
      { retryLimit: BEYOND },
      {
        send() {
          throw error;
        },
      },
    );
    await expect(job.moveToDead('down')).rejects.toBe(error);
    expect(callsOf('complete')).toEqual([]);
  });

  it.each<[string, Date | string, number]>([
    ['a Date', new Date('2026-01-01T00:01:00Z'), 60],
    ['a text', '2026-01-01T00:01:00.000Z', 60],
    ['a part of a second more', '2026-01-01T00:01:00.001Z', 61],
    ['the time when it was made', '2026-01-01T00:00:00Z', 1],
    ['an earlier time', '2025-12-31T00:00:00Z', 1],
  ])('is kept for as long as the job, a second at least: until %s', async (_what, until, kept) => {
    const { job, callsOf } = leased({ createdOn: '2026-01-01T00:00:00Z', keepUntil: until });
    await job.moveToDead('down');
    expect(callsOf('send')[0]![2]).toEqual({ id: 'job-1', retentionSeconds: kept });
  });
});
