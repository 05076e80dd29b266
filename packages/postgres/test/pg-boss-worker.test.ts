import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { createPgBossWorker, type PgBossWorkerOptions } from '../src/index.ts';
import { continuedJobId } from '../src/pg-boss-job-id.ts';
import { BEYOND, fetchedJob, recordingBoss } from './recording-boss.ts';

describe('a worker', () => {
  beforeEach(() => void jest.useFakeTimers());
  const toClose: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0)) {
      const closing = close();
      await jest.advanceTimersByTimeAsync(20_000);
      await closing;
    }
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  /** Lets promises that are settled run their callbacks. */
  const settled = () => jest.advanceTimersByTimeAsync(0);

  function work(recorded: ReturnType<typeof recordingBoss>, options: PgBossWorkerOptions = {}) {
    const logger = collectingLogger();
    const worker = createPgBossWorker(recorded.boss, { logger, ...options });
    toClose.push(() => worker.close({ graceMs: 0 }));
    return { ...recorded, logger, worker };
  }

  /** A queue whose first fetch gives a job. */
  function withJob(job = fetchedJob(), more: Parameters<typeof recordingBoss>[0] = {}) {
    const jobs = [job];
    return recordingBoss({ fetch: () => jobs.splice(0), ...more });
  }

  describe('a worker of pg-boss', () => {
    it('makes sure once of its queues, and looks for four jobs, in order, every half second', async () => {
      const { calls, callsOf } = work(recordingBoss());
      await settled();
      expect(calls).toStrictEqual([
        ['getQueue', 'call-webhooks-dead'],
        ['getQueue', 'call-webhooks'],
        ['fetch', 'call-webhooks', { batchSize: 4, includeMetadata: true, priority: false }],
      ]);
      await jest.advanceTimersByTimeAsync(499);
      expect(callsOf('fetch')).toHaveLength(1);
      await jest.advanceTimersByTimeAsync(1);
      expect(callsOf('fetch')).toHaveLength(2);
      expect(callsOf('getQueue')).toHaveLength(2);
    });

    it('does not tell pg-boss 12 about priorities, which would warn', async () => {
      const { callsOf } = work(recordingBoss({ findJobs: () => [] }));
      await settled();
      expect(callsOf('fetch')).toStrictEqual([
        ['call-webhooks', { batchSize: 4, includeMetadata: true }],
      ]);
    });

    it('has the names and numbers that it is given', async () => {
      const { callsOf } = work(recordingBoss(), {
        ...{ queue: 'calls', deadQueue: 'lost', concurrency: 9, pollEvery: 20 },
      });
      await jest.advanceTimersByTimeAsync(20);
      expect(callsOf('getQueue')).toEqual([['lost'], ['calls']]);
      expect(callsOf('fetch')).toHaveLength(2);
      expect(callsOf('fetch')[0]).toEqual(['calls', expect.objectContaining({ batchSize: 9 })]);
    });
  });

  describe('a job that a worker of pg-boss fetched', () => {
    it('is handled and completed', async () => {
      const handler = jest.fn();
      const { callsOf } = work(withJob(), { on: { 'call:completed': handler } });
      await settled();
      expect(handler).toHaveBeenCalledTimes(1);
      expect(callsOf('complete')).toEqual([['call-webhooks', 'job-1']]);
      expect(callsOf('send')).toEqual([]);
    });

    it.each([0, 20_000])(
      'is aborted when pg-boss would give it to another worker, though fetching it took %d ms',
      async (took) => {
        const signals: AbortSignal[] = [];
        const jobs = [fetchedJob({ expireInSeconds: 300 })];
        const fetch = async () => {
          await new Promise((resolve) => setTimeout(resolve, took));
          return jobs.splice(0);
        };
        work(recordingBoss({ fetch }), {
          on: {
            'call:completed': (_event, { signal }) => {
              signals.push(signal);
              return new Promise(() => undefined);
            },
          },
        });
        await jest.advanceTimersByTimeAsync(took);
        expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
        await jest.advanceTimersByTimeAsync(300_000 - took - 1);
        expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
        await jest.advanceTimersByTimeAsync(1);
        expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
      },
    );

    it('that was sent by hand is continued, and not handled', async () => {
      const handler = jest.fn();
      const { callsOf } = work(withJob(fetchedJob({ retryLimit: BEYOND - 1 })), {
        on: { 'call:completed': handler },
      });
      // The id of the next job is a digest, which takes real time.
      while (callsOf('send').length === 0 || callsOf('complete').length === 0) await settled();
      expect(handler).not.toHaveBeenCalled();
      const id = await continuedJobId('job-1');
      expect(callsOf('complete')).toEqual([['call-webhooks', 'job-1', { continuedBy: id }]]);
      expect(callsOf('send')).toEqual([
        ['call-webhooks', expect.anything(), expect.objectContaining({ id })],
      ]);
    });

    it('goes to the queue for dead jobs of the worker after its last attempt', async () => {
      const { callsOf } = work(withJob(fetchedJob({ retryLimit: BEYOND })), {
        deadQueue: 'lost',
        on: {
          'call:completed': () => {
            throw new Error('the CRM is down');
          },
        },
      });
      await settled();
      expect(callsOf('send')).toEqual([
        ['lost', expect.anything(), expect.objectContaining({ id: 'job-1' })],
      ]);
    });

    it.each([
      [undefined, 'pgboss'],
      ['mine', 'mine'],
    ])('is completed in a transaction: with schema %p in %s.job', async (schema, name) => {
      const query = jest.fn((_text: string) => Promise.resolve([{ status: 'done' }]));
      work(withJob(fetchedJob(), { executeSql: () => ({ rows: [{ answer: 'true' }] }) }), {
        schema,
        on: { 'call:completed': (_event, { completeIn }) => completeIn({ query }) },
      });
      await settled();
      expect(query).toHaveBeenCalledTimes(1);
      expect(query.mock.calls[0]![0]).toContain(`UPDATE ${name}.job SET`);
    });
  });

  describe('while pg-boss is failing', () => {
    /** A pg-boss that is down as long as `state` says so. */
    function breaking(method: 'getQueue' | 'fetch') {
      const state = { down: true };
      const reply = () => {
        if (state.down) throw new Error('password hunter2 is wrong');
        return method === 'fetch' ? [] : {};
      };
      return { state, recorded: recordingBoss({ [method]: reply }) };
    }
    const line = (text: string) => ({
      level: 'error',
      message: `call-webhooks: pg-boss is failing: Error: ${text}`,
      fields: {
        queue: 'call-webhooks',
        err: expect.objectContaining({ message: text }),
        docs: expect.stringMatching(/\/queues\.html#pg-boss$/),
      },
    });

    it('a worker logs one line for each outage, and goes on', async () => {
      const { state, recorded } = breaking('fetch');
      const { logger } = work(recorded);
      await jest.advanceTimersByTimeAsync(1_500);
      expect(logger.entries).toEqual([line('password hunter2 is wrong')]);
      state.down = false;
      await jest.advanceTimersByTimeAsync(1_000);
      state.down = true;
      await jest.advanceTimersByTimeAsync(1_000);
      expect(logger.entries).toEqual([1, 2].map(() => line('password hunter2 is wrong')));
    });

    it('it fetches nothing before its queues are there', async () => {
      const { state, recorded } = breaking('getQueue');
      const { callsOf, logger } = work(recorded);
      await jest.advanceTimersByTimeAsync(1_000);
      expect(callsOf('fetch')).toEqual([]);
      expect(logger.entries).toHaveLength(1);
      state.down = false;
      await jest.advanceTimersByTimeAsync(500);
      expect(callsOf('fetch')).toHaveLength(1);
    });

    it('its line is redacted as its other lines are', async () => {
      const redact = (text: string) => text.replace('hunter2', '***');
      const { logger } = work(breaking('fetch').recorded, { redact });
      await settled();
      expect(logger.entries).toEqual([line('password *** is wrong')]);
    });

    it('the line of a result that it does not accept is redacted like its other lines', async () => {
      const redact = (text: string) => text.replace('hunter2', '***');
      const complete = () => Promise.reject(new Error('password hunter2 is wrong'));
      const { logger } = work(withJob(fetchedJob(), { complete }), {
        redact,
        on: { 'call:completed': () => undefined },
      });
      await jest.advanceTimersByTimeAsync(10_000);
      expect(logger.entries).toMatchObject([
        {
          message: expect.stringContaining('of a job: Error: password *** is wrong.'),
          fields: { err: { message: 'password *** is wrong' } },
        },
      ]);
    });

    it('it logs to the console by default', async () => {
      const error = jest.spyOn(console, 'error').mockReturnValue();
      work(breaking('fetch').recorded, { logger: undefined });
      await settled();
      expect(error).toHaveBeenCalledTimes(1);
      expect(error).toHaveBeenCalledWith(expect.stringContaining('pg-boss is failing'));
    });
  });
});

describe('a worker of pg-boss', () => {
  it.each([
    ['queue', '', 'expected the name of a queue'],
    ['deadQueue', '', 'expected the name of a queue'],
    ['schema', 'a"b', 'expected the name of a schema, without quotes'],
    ['concurrency', 0, 'expected a whole number from 1 to 10000'],
    ['concurrency', 10_001, 'expected a whole number from 1 to 10000'],
    ['pollEvery', 0, 'expected whole milliseconds from 1 to 2147483647'],
    ['maxRuns', 5, 'it is an option of pgBossQueue'],
  ])('says what it expects as %s, not %j', (name, value, expected) => {
    const { boss, calls } = recordingBoss();
    expect(() => createPgBossWorker(boss, { [name]: value })).toThrow(
      `Invalid options of createPgBossWorker: ${name}: ${expected}.`,
    );
    expect(calls).toEqual([]);
  });

  it.each([
    { concurrency: 1, pollEvery: 1 },
    { concurrency: 10_000, pollEvery: 2 ** 31 - 1 },
  ])('takes %j', async (limits) => {
    const worker = createPgBossWorker(recordingBoss().boss, limits);
    await worker.close({ graceMs: 0 });
  });

  it('says whose pg-boss is none', () => {
    expect(() => createPgBossWorker({} as never, {})).toThrow(
      'Invalid pg-boss of createPgBossWorker: it has no createQueue().',
    );
  });
});
