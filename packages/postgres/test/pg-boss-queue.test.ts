import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pgBossDeadJobs, pgBossQueue, type PgBossQueueOptions } from '../src/index.ts';
import { fromJobData } from '../src/pg-boss-data.ts';
import { BEYOND, DELIVERY, recordingBoss } from './recording-boss.ts';

/** Of the event of `DELIVERY`. */
const ID = expect.stringMatching(/^[\da-f-]{36}$/);

const failsOnce = <Reply>(error: Error, reply: Reply) => {
  let failed = false;
  return () => {
    if (failed) return reply;
    failed = true;
    throw error;
  };
};

describe('migrate() of a queue in pg-boss', () => {
  it('makes sure of its queues once, and the first delivery does so without it', async () => {
    const { boss, calls, callsOf } = recordingBoss();
    const queue = pgBossQueue(boss, { queue: 'calls' });
    expect(calls).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(calls.map(([method]) => method)).toEqual(['getQueue', 'getQueue', 'send']);
    await Promise.all([queue.migrate(), queue.migrate(), queue.enqueue(DELIVERY)]);
    expect(callsOf('getQueue')).toEqual([['calls-dead'], ['calls']]);
  });

  it('rejects with the error of pg-boss, and is tried again', async () => {
    const error = new Error('down');
    const { boss, callsOf } = recordingBoss({ getQueue: failsOnce(error, {}) });
    const queue = pgBossQueue(boss, { deadQueue: 'lost' });
    await expect(queue.enqueue(DELIVERY)).rejects.toBe(error);
    expect(callsOf('send')).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(callsOf('getQueue')).toEqual([['lost'], ['lost'], ['call-webhooks']]);
  });
});

describe('a delivery', () => {
  it('is sent once, under the id of its event, as it is', async () => {
    const { boss, callsOf } = recordingBoss();
    const delivery = { ...DELIVERY, tenant: 'acme', trace: { traceparent: '00-1' } };
    await pgBossQueue(boss).enqueue(delivery);
    expect(callsOf('send')).toStrictEqual([
      ['call-webhooks', delivery, expect.objectContaining({ id: ID })],
    ]);
    expect(callsOf('getJobById')).toEqual([]);
  });

  it('that pg-boss has already is in the queue, or was in it', async () => {
    const { boss, callsOf } = recordingBoss({ send: () => null, getJobById: () => ({}) });
    const queue = pgBossQueue(boss);
    await queue.enqueue(DELIVERY);
    await queue.enqueue(DELIVERY);
    const asked = ['call-webhooks', ID, { includeArchive: true }];
    expect(callsOf('getJobById')).toEqual([asked, asked]);
    expect(callsOf('getQueue')).toHaveLength(2); // of the first delivery
  });

  it('that pg-boss took silently is an error: its queue is missing, and made for the next one', async () => {
    const { boss, callsOf } = recordingBoss({ send: () => null });
    const queue = pgBossQueue(boss, { queue: 'gone' });
    const refusal = 'pg-boss did not accept the job. Was the queue "gone" deleted?';
    await expect(queue.enqueue(DELIVERY)).rejects.toEqual(new Error(refusal));
    await expect(queue.enqueue(DELIVERY)).rejects.toEqual(new Error(refusal));
    expect(callsOf('getQueue')).toHaveLength(4);
  });

  it('that pg-boss refused rejects with its error, and the queues are looked at before the next one', async () => {
    const error = new Error('Queue gone does not exist');
    const { boss, callsOf } = recordingBoss({ send: failsOnce(error, 'sent') });
    const queue = pgBossQueue(boss);
    await expect(queue.enqueue(DELIVERY)).rejects.toBe(error);
    expect(callsOf('getJobById')).toEqual([]);
    await queue.enqueue(DELIVERY);
    expect(callsOf('getQueue')).toHaveLength(4);
  });
});

/** What is sent of a delivery. */
async function sentOf(more: object) {
  const { boss, callsOf } = recordingBoss();
  await pgBossQueue(boss).enqueue({ ...DELIVERY, ...more });
  return callsOf('send')[0]![1];
}

describe('what Postgres cannot keep in JSON', () => {
  it.each(['\0', 'a\0b', '\ud83d', 'a\ude00'])(
    'is escaped, whatever field has it: %j',
    async (text) => {
      for (const field of ['key', 'eventName', 'webhookId', 'callId', 'tenant', 'another']) {
        const delivery = { ...DELIVERY, [field]: text };
        const sent = await sentOf(delivery);
        expect(JSON.stringify(sent)).not.toMatch(/[^\\]\\u/);
        expect(fromJobData(sent)).toStrictEqual(delivery);
      }
    },
  );

  it.each(['', '😀', 'a"b\\', 'x'.repeat(1_000)])('is not what it can: %j', async (text) => {
    const delivery = { ...DELIVERY, key: text, eventName: text, webhookId: text, callId: text };
    expect(await sentOf(delivery)).toStrictEqual(delivery);
    expect(fromJobData(delivery)).toStrictEqual(delivery);
  });
});

describe('ping()', () => {
  it('sends a job that is not due, and deletes it', async () => {
    const { boss, callsOf } = recordingBoss();
    await pgBossQueue(boss, { queue: 'calls' }).ping!();
    const [[queue, data, options]] = callsOf('send') as [[string, object, Record<string, unknown>]];
    expect([queue, data]).toEqual(['calls', { healthCheck: true }]);
    expect(options['startAfter']).toBe(86_400);
    expect(callsOf('deleteJob')).toEqual([['calls', options['id']]]);
  });

  it('rejects with the error of pg-boss', async () => {
    const error = new Error('down');
    for (const method of ['getQueue', 'send', 'deleteJob'] as const) {
      const { boss } = recordingBoss({ [method]: failsOnce(error, {}) });
      const queue = pgBossQueue(boss, { queue: 'calls' });
      await expect(queue.ping!()).rejects.toBe(error);
      await expect(queue.ping!()).resolves.toBeUndefined();
    }
  });

  it('creates the queue again if it was deleted, as the next delivery would', async () => {
    let isThere = true;
    const { boss, callsOf } = recordingBoss({ getQueue: () => (isThere ? {} : null) });
    const queue = pgBossQueue(boss, { queue: 'calls' });
    await queue.migrate();
    isThere = false;
    await queue.ping!();
    expect(callsOf('createQueue')).toEqual([['calls-dead'], ['calls']]);
  });
});

/** With what a queue sends its jobs. */
async function sendOptionsOf(options?: PgBossQueueOptions) {
  const { boss, callsOf } = recordingBoss();
  await pgBossQueue(boss, options).enqueue(DELIVERY);
  const { id: _id, ...sendOptions } = callsOf('send')[0]![2] as Record<string, unknown>;
  return sendOptions;
}

const DAY_MS = 86_400_000;

describe('a job of a queue in pg-boss', () => {
  it('is run every minute, up to 5,000 times, for five minutes each, and kept for 30 days', async () => {
    expect(await sendOptionsOf()).toStrictEqual({
      retryLimit: BEYOND + 4_999,
      ...{ retryDelay: 60, retryBackoff: false, expireInSeconds: 300, retentionSeconds: 2_592_000 },
      deadLetter: 'call-webhooks-dead',
    });
  });

  it('is kept until it is dead, also if each run crashes its worker', async () => {
    const sent = (await sendOptionsOf()) as Record<string, number>;
    const { retryLimit = 0, retryDelay = 0, expireInSeconds = 0, retentionSeconds } = sent;
    const longestRun = expireInSeconds + 120 + retryDelay; // pg-boss looks for lost jobs every 120 s
    expect(retentionSeconds).toBeGreaterThan((retryLimit - BEYOND + 1) * longestRun);
  });

  it('has what the options say, in whole seconds, and never less', async () => {
    const options = {
      ...{ queue: 'calls', deadQueue: 'lost', maxRuns: 3 },
      ...{ backoff: { initialDelay: 1_001 }, expireIn: 2_001, retainFor: 60_001 },
    };
    expect(await sendOptionsOf(options)).toStrictEqual({
      retryLimit: BEYOND + 2,
      ...{ retryDelay: 2, retryBackoff: false, expireInSeconds: 3, retentionSeconds: 61 },
      deadLetter: 'lost',
    });
    expect(await sendOptionsOf({ queue: 'calls' })).toMatchObject({ deadLetter: 'calls-dead' });
  });

  it.each<[string, PgBossQueueOptions, object]>([
    ['the fewest attempts', { maxRuns: 1 }, { retryLimit: BEYOND }],
    ['the most attempts', { maxRuns: 1_000_000 }, { retryLimit: BEYOND + 999_999 }],
    ['no delay', { backoff: { initialDelay: 0 } }, { retryDelay: 0 }],
    ['the shortest run', { expireIn: 1_000 }, { expireInSeconds: 1 }],
    ['the longest run', { expireIn: DAY_MS - 1_000 }, { expireInSeconds: 86_399 }],
    ['the shortest life', { retainFor: 60_000 }, { retentionSeconds: 60 }],
    ['ten years', { retainFor: 3_650 * DAY_MS }, { retentionSeconds: 315_360_000 }],
    ['one delay, named twice', { backoff: { initialDelay: 5, maxDelay: 5 } }, { retryDelay: 1 }],
    ['the default as the longest delay', { backoff: { maxDelay: 60_000 } }, { retryDelay: 60 }],
  ])('may have %s', async (_what, options, expected) => {
    expect(await sendOptionsOf(options)).toMatchObject(expected);
  });

  const attempts = 'expected a whole number from 1 to 1000000';
  const expireIn = 'expected whole milliseconds from 1000 to 86399000';
  const retainFor = 'expected whole milliseconds from 60000 to 315360000000';
  const sameDelay = 'backoff.maxDelay: expected the same as initialDelay, or more in pg-boss 12';
  it.each<[object, string]>([
    [{ queue: '' }, 'queue: expected the name of a queue'],
    [{ deadQueue: '' }, 'deadQueue: expected the name of a queue'],
    [{ maxRuns: 0 }, `maxRuns: ${attempts}`],
    [{ maxRuns: 1_000_001 }, `maxRuns: ${attempts}`],
    [{ expireIn: 999 }, `expireIn: ${expireIn}`],
    [{ expireIn: DAY_MS }, `expireIn: ${expireIn}`],
    [{ retainFor: 59_999 }, `retainFor: ${retainFor}`],
    [{ retainFor: 3_650 * DAY_MS + 1 }, `retainFor: ${retainFor}`],
    [{ backoff: { initialDelay: 5, maxDelay: 6 } }, sameDelay],
    [{ backoff: { initialDelay: 6, maxDelay: 5 } }, sameDelay],
    [{ backoff: { initialDelay: 0, maxDelay: 5 } }, sameDelay],
    [{ backoff: { initialDelay: 5, maxDelay: 0 } }, sameDelay],
    [{ backoff: { maxDelay: 59_999 } }, sameDelay],
  ])('may not have %j, and the error says what may be', (options, mistake) => {
    const { boss } = recordingBoss();
    expect(() => pgBossQueue(boss, options)).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(`Invalid options of pgBossQueue: ${mistake}.`),
      }),
    );
  });

  it('needs a pg-boss, and the error says whose is none', () => {
    expect(() => pgBossQueue({} as never)).toThrow(
      'Invalid pg-boss of pgBossQueue: it has no createQueue().',
    );
  });
});

describe('in pg-boss 12, the delay', () => {
  const sent = async (backoff: object) => {
    const { boss, callsOf } = recordingBoss({ findJobs: () => [] });
    await pgBossQueue(boss, { backoff }).enqueue(DELIVERY);
    return callsOf('send')[0]![2];
  };

  it('grows up to maxDelay', async () => {
    expect(await sent({ initialDelay: 5_000, maxDelay: 3_600_000 })).toMatchObject({
      ...{ retryDelay: 5, retryBackoff: true, retryDelayMax: 3_600 },
    });
  });

  it('stays the same by default', async () => {
    const options = await sent({ initialDelay: 5_000 });
    expect(options).toMatchObject({ retryDelay: 5, retryBackoff: false });
    expect(options).not.toHaveProperty('retryDelayMax');
  });

  it('does not shrink', async () => {
    await expect(sent({ initialDelay: 5_000, maxDelay: 4_000 })).rejects.toThrow('maxDelay');
  });
});

const queue = (name: unknown) => () =>
  pgBossQueue(recordingBoss().boss, { queue: name as string, deadQueue: name as string });
const schema = (name: string) => () => pgBossDeadJobs(recordingBoss().boss, { schema: name });

describe('the name of a queue', () => {
  it.each(['c', 'calls of the CRM', 'two\nlines', 'x'.repeat(200), '😀'.repeat(200)])(
    'may be %j',
    (name) => {
      expect(queue(name)).not.toThrow();
    },
  );

  it.each(['', 'x'.repeat(201), 5, null])('may not be %j', (name) => {
    expect(queue(name)).toThrow(
      'Invalid options of pgBossQueue: queue: expected the name of a queue',
    );
  });
});

describe('the schema of pg-boss', () => {
  it.each(['a', '_', 'A1_', 'x'.repeat(50)])('may be %j', (name) => {
    expect(schema(name)).not.toThrow();
  });

  it.each(['', '1a', 'a b', 'a"', "a'", '"a', ' a', 'a.b', 'ä', 'x'.repeat(51)])(
    'may not be %j, which would need quotes',
    (name) => {
      expect(schema(name)).toThrow('schema: expected the name of a schema, without quotes.');
    },
  );
});

const deadlock = () => Object.assign(new Error('deadlock detected'), { code: '40P01' });

/** A pg-boss without queues, whose `createQueue` fails so many times. */
function missing(failures: number, failure = deadlock) {
  let failed = 0;
  return recordingBoss({
    getQueue: () => null,
    createQueue() {
      if (failed++ < failures) throw failure();
    },
  });
}

describe('queues', () => {
  it('that are there stay as they are', async () => {
    const { boss, calls } = recordingBoss();
    await pgBossQueue(boss, { queue: 'calls' }).migrate();
    expect(calls).toEqual([
      ['getQueue', 'calls-dead'],
      ['getQueue', 'calls'],
    ]);
  });

  it.each([
    [{ policy: 'short' }, "policy: 'short'"],
    [{ policy: 'stately' }, "policy: 'stately'"],
    [{ policy: 'exclusive' }, "policy: 'exclusive'"],
    [{ policy: 'standard', heartbeatSeconds: 60 }, 'heartbeatSeconds'],
  ])('that would lose jobs are refused: %j', async (settings, what) => {
    for (const name of ['calls', 'calls-dead']) {
      const { boss, callsOf } = recordingBoss({
        getQueue: (asked: string) => (asked === name ? settings : { policy: 'standard' }),
      });
      const queue = pgBossQueue(boss, { queue: 'calls' });
      const refused = {
        code: 'invalid-options',
        message: expect.stringContaining(`The queue "${name}" of pg-boss has ${what}`),
      };
      await expect(queue.migrate()).rejects.toMatchObject(refused);
      await expect(queue.enqueue(DELIVERY)).rejects.toMatchObject(refused);
      expect(callsOf('send')).toEqual([]);
    }
  });

  it('that are missing are created, first the one for dead jobs, which the other one may name', async () => {
    const { boss, calls } = missing(0);
    await pgBossQueue(boss, { queue: 'calls' }).migrate();
    expect(calls).toEqual([
      ['getQueue', 'calls-dead'],
      ['createQueue', 'calls-dead'],
      ['getQueue', 'calls'],
      ['createQueue', 'calls'],
    ]);
  });

  it('are not created where pg-boss is failing otherwise, and the error is its own', async () => {
    const error = Object.assign(new Error('permission denied'), { code: '42501' });
    const { boss, callsOf } = missing(1, () => error);
    await expect(pgBossQueue(boss, { queue: 'calls' }).migrate()).rejects.toBe(error);
    expect(callsOf('createQueue')).toHaveLength(1);
  });
});

describe('after a deadlock a queue', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it.each([
    [0, 50],
    [0.5, 150],
    [0.995, 249],
  ])('is created again, at a random time (%d): after %d ms', async (random, ms) => {
    jest.spyOn(Math, 'random').mockReturnValue(random);
    const { boss, callsOf } = missing(1);
    const created = pgBossQueue(boss, { queue: 'calls' }).migrate();
    await jest.advanceTimersByTimeAsync(ms - 1);
    expect(callsOf('createQueue')).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(callsOf('createQueue')).toEqual([['calls-dead'], ['calls-dead'], ['calls']]);
    await created;
  });

  it('is not created again if another machine did so meanwhile', async () => {
    let asked = 0;
    const { boss, callsOf } = recordingBoss({
      getQueue: () => (asked++ === 0 ? null : {}),
      createQueue() {
        throw deadlock();
      },
    });
    const created = pgBossQueue(boss, { queue: 'calls' }).migrate();
    await jest.advanceTimersByTimeAsync(250);
    await created;
    expect(callsOf('createQueue')).toEqual([['calls-dead']]);
  });

  it.each([
    [4, 'is there at last'],
    [5, 'is given up'],
  ])('is tried five times: after %d deadlocks it %s', async (deadlocks) => {
    const { boss, callsOf } = missing(deadlocks);
    const ended = pgBossQueue(boss, { queue: 'calls' })
      .migrate()
      .then(
        () => 'created',
        (error: unknown) => error,
      );
    await jest.advanceTimersByTimeAsync(10 * 250);
    expect(await ended).toEqual(deadlocks < 5 ? 'created' : deadlock());
    expect(callsOf('createQueue').filter(([name]) => name === 'calls-dead')).toHaveLength(5);
  });
});
