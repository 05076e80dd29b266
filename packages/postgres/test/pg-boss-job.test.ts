import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { QueuedDelivery } from '@call-webhooks/core';
import { pgBossQueue } from '../src/index.ts';
import { continueJob, fetchedJob as readJob, leasedJob } from '../src/pg-boss-job.ts';
import { continuedJobId } from '../src/pg-boss-job-id.ts';
import { maxRunsOf, type PgBossJob } from '../src/pg-boss.ts';
import { BEYOND, DELIVERY, fetchedJob, recordingBoss } from './recording-boss.ts';
import { answer } from './recording-client.ts';

/** The last call of a completion. */
const BODY_REMOVED = [
  ...['executeSql', expect.stringContaining("data - 'body'")],
  ['calls', 'job-1'],
];

describe('a job', () => {
  const NOW = Date.parse('2026-01-01T12:00:00Z');
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  const QUEUES = { queue: 'calls', deadQueue: 'calls-dead', schema: 'pgboss' };
  const EARLIER = { at: 5, attempt: 1, error: 'the CRM was down' };

  function leased(
    more: Partial<PgBossJob> = {},
    replies: Parameters<typeof recordingBoss>[0] = {},
  ) {
    const recorded = recordingBoss(replies);
    const job = readJob(fetchedJob(more));
    return {
      ...recorded,
      job: leasedJob(job, maxRunsOf(job)!, { ...QUEUES, boss: recorded.boss }),
    };
  }

  describe('a fetched job', () => {
    it('has its delivery, its attempt, and the time of its run in milliseconds', () => {
      const { job, calls } = leased({ retryCount: 2, expireInSeconds: '90.500000' as never });
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
      const { job, callsOf } = leased({ retryCount: 4 }, { executeSql: () => answer(false) });
      expect(await job.transaction!.isCompleted()).toBe(false);
      expect(callsOf('executeSql')).toEqual([
        [expect.stringContaining('pgboss.job'), ['calls', 'job-1', 4]],
      ]);
    });

    it('is completed without an output, and loses its body', async () => {
      const { job, calls } = leased();
      await job.complete();
      expect(calls).toEqual([['complete', 'calls', 'job-1'], BODY_REMOVED]);
    });

    it('stays completed when its body could not be removed', async () => {
      const executeSql = () => {
        throw new Error('the server is down');
      };
      const { job, callsOf } = leased({}, { executeSql });
      await job.complete();
      expect(callsOf('complete')).toHaveLength(1);
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
        { retryCount: 2, output: { failures: [EARLIER] }, expireInSeconds: '90.200000' as never },
        { getQueue: () => null },
      );
      await job.moveToDead('down');
      const failure = {
        ...{ attempt: 3, retryDelay: 60, expireInSeconds: 91, retentionSeconds: 86_400 },
        failures: [EARLIER, { at: NOW, attempt: 3, error: 'down' }],
      };
      expect(calls).toStrictEqual([
        ['getQueue', 'calls-dead'],
        ['createQueue', 'calls-dead'],
        ['getQueue', 'calls'],
        ['createQueue', 'calls'],
        [
          ...['send', 'calls-dead', { ...DELIVERY, failure }],
          { id: 'job-1', retentionSeconds: 2_147_483_647 }, // until its user removes it
        ],
        ['complete', 'calls', 'job-1', { message: 'down' }],
        BODY_REMOVED,
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

    it('is not completed where pg-boss silently took no copy, unless the copy is there', async () => {
      const missing = leased({}, { send: () => null });
      await expect(missing.job.moveToDead('down')).rejects.toThrow(
        'pg-boss did not accept the job',
      );
      expect(missing.callsOf('complete')).toEqual([]);
      const repeated = leased({}, { send: () => null, getJobById: () => ({}) });
      await repeated.job.moveToDead('down');
      expect(repeated.callsOf('complete')).toHaveLength(1);
    });

    it.each<[string, Date | string, number]>([
      ['a Date', new Date('2026-01-01T00:01:00Z'), 60],
      ['a text', '2026-01-01T00:01:00.000Z', 60],
      ['a text as Postgres writes it', '2026-01-01 00:01:00+00', 60],
      ['a part of a second more', '2026-01-01T00:01:00.001Z', 61],
      ['the time when it was made', '2026-01-01T00:00:00Z', 1],
    ])('knows for how long its job was kept: until %s', async (_what, keepUntil, kept) => {
      const { job, callsOf } = leased({ createdOn: '2026-01-01T00:00:00Z', keepUntil });
      await job.moveToDead('down');
      expect(callsOf('send')[0]![1]).toMatchObject({ failure: { retentionSeconds: kept } });
    });
  });
});

const LOST = 'Its last run did not end: the process died, or expireIn passed.';

/** Of a job that gets three runs. */
function stateOf(retryCount: number, output: PgBossJob['output'] = null) {
  const { boss } = recordingBoss();
  const queues = { boss, queue: 'calls', deadQueue: 'calls-dead', schema: 'pgboss' };
  return leasedJob(fetchedJob({ retryCount, output }), 3, queues);
}

describe('a run', () => {
  it.each([
    [0, 1, false],
    [1, 2, false],
    [2, 3, true],
    [3, 4, true],
  ])('after %d retries is attempt %d of 3; the last one: %p', (retryCount, attempt, isLast) => {
    expect(stateOf(retryCount)).toMatchObject({ attempt, maxRuns: 3, isLastAttempt: isLast });
  });

  it.each<[string, number, PgBossJob['output'], string | undefined]>([
    ['the last one has not been', 2, null, undefined],
    ['the last one came to no end', 3, null, LOST],
    ["pg-boss's own text is there", 3, { released: false }, LOST],
    ['it was released in the last one', 3, { released: true }, undefined],
    ['it was given up before', 3, { abandonReason: 'the CRM is down' }, 'the CRM is down'],
    ['it was given up early', 0, { abandonReason: 'the CRM is down' }, 'the CRM is down'],
  ])('knows why no handler is run any more: %s', (_when, retryCount, output, reason) => {
    const expected = reason === undefined ? undefined : new Error(reason);
    expect(stateOf(retryCount, output).abandonReason).toEqual(expected);
  });
});

describe('a job whose client leaves numbers and JSON as texts', () => {
  it('is read all the same', () => {
    const asTexts = {
      ...fetchedJob(),
      ...{ retryCount: '2', retryLimit: String(BEYOND + 2), retryDelay: '60' },
      ...{ expireInSeconds: '300.000000', output: '{"released":true}' },
      data: JSON.stringify(DELIVERY),
    };
    const output = { released: true };
    expect(readJob(asTexts)).toEqual(fetchedJob({ retryCount: 2, output }));
  });

  it.each([
    ...[undefined, null, 5, 'a text', {}],
    ...[{ retrycount: 1 }, { ...fetchedJob(), retryCount: undefined }, ['id', {}, 1]],
  ])('is none without its numbers: %j', (given) => {
    expect(() => readJob(given)).toThrow('pg-boss returned a job without its numbers');
  });
});

describe('a job that was sent by hand is continued', () => {
  const QUEUES = { queue: 'calls', deadQueue: 'calls-dead', schema: 'pgboss' };

  /** Continues a job that was sent by hand with two retries. */
  async function continued(more: Partial<PgBossJob> = {}) {
    const recorded = recordingBoss();
    const job = readJob(fetchedJob({ retryLimit: 2, ...more }));
    await continueJob(job, { ...QUEUES, boss: recorded.boss });
    return recorded;
  }

  it('by one that gets as many runs, under an id that comes from its own, and is completed afterwards', async () => {
    const { calls } = await continued({
      ...{ retryDelay: 7, retryBackoff: true, expireInSeconds: '90.200000' as never },
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
      BODY_REMOVED,
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

/** The digits of the hash, except those two that say which UUID it is. */
function digitsOf(text: string): string {
  const hex = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
  return `${hex.slice(0, 12)}${hex.slice(13, 16)}${hex.slice(17, 32)}`;
}

/** The id under which the job of a delivery is sent. */
async function jobId(delivery: QueuedDelivery): Promise<string> {
  const { boss, callsOf } = recordingBoss();
  await pgBossQueue(boss).enqueue(delivery);
  return (callsOf('send')[0]![2] as { id: string }).id;
}

describe('the id of a job', () => {
  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])(
    'is a UUID of version 8, with the digits of a hash (%d)',
    async (number) => {
      const key = `call-${String(number)}`;
      const id = await jobId({ ...DELIVERY, key });
      expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
      const digits = id.replaceAll('-', '');
      expect(digits.slice(0, 12) + digits.slice(13, 16) + digits.slice(17)).toBe(
        digitsOf(`event ${key}`),
      );
    },
  );

  it('is the same in each version of this package: a job may be there already', async () => {
    expect(await jobId({ ...DELIVERY, key: 'call-1' })).toBe(
      '596ab64a-6565-87ef-9f73-658e975bddca',
    );
    expect(await continuedJobId('job-1')).toBe('a966d248-b5de-8f97-ae40-9077ae7f5fd4');
  });

  it('comes from the key, whatever the webhook id and the tenant are: the key has the tenant', async () => {
    const id = await jobId(DELIVERY);
    expect(await jobId({ ...DELIVERY, webhookId: 'another', tenant: 'acme' })).toBe(id);
  });

  it('without a key comes from the webhook id and the tenant, and is never that of a key', async () => {
    const { key: _key, ...delivery } = DELIVERY;
    const ids = await Promise.all([
      jobId(delivery),
      jobId({ ...delivery, webhookId: 'webhook-2' }),
      jobId({ ...delivery, tenant: 'acme' }),
      jobId({ ...delivery, key: delivery.webhookId }),
      continuedJobId(delivery.webhookId),
    ]);
    expect(new Set(ids).size).toBe(5);
    expect(await jobId({ ...delivery, receivedAt: 5 })).toBe(ids[0]);
    expect(ids[0].replaceAll('-', '').slice(0, 12)).toBe(
      digitsOf('webhook webhook-1').slice(0, 12),
    );
  });
});
