import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, queued, queuedCall } from '@call-webhooks/contract-tests';
import type { DeadLetter, QueuedDelivery } from '../../src/index.ts';
import {
  addFailure,
  createJobProcessor,
  deadJobs,
  type DeadJobRecord,
  type DeadLetterFilter,
} from '../../src/stores.ts';
import { bytes, NOW, SECONDS, STARTED } from '../support.ts';

const process = createJobProcessor({
  logger: collectingLogger(),
  on: {
    'call:completed': () => {
      throw new Error('the CRM is down');
    },
    'call:moved': () => undefined,
    'call:lost': () => undefined,
  },
  events: {
    'call:moved': {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: () => ({ issues: [{ message: 'expected a place', path: ['place'] }] }),
      },
    },
    'call:lost': {
      '~standard': {
        ...{ version: 1, vendor: 'test' },
        validate: () => {
          throw new Error('no');
        },
      },
    },
  },
});

/** The dead jobs of an engine, which reads one at a time, and the ids of those that were read. */
function engineOf(records: DeadJobRecord[]) {
  const read: string[] = [];
  const jobs = deadJobs({
    page({ since, until, after }) {
      const next = records.find(({ id, failedAt }) => {
        const at = failedAt.getTime();
        const isPast = after && (at < after.failedAt || (at === after.failedAt && id <= after.id));
        return at >= since && at < until && isPast !== true;
      });
      if (next) read.push(next.id);
      return Promise.resolve(next ? [next] : []);
    },
    get: (id) => Promise.resolve(records.find((record) => record.id === id)),
    requeue: () => Promise.resolve(false),
    remove: () => Promise.resolve(false),
  });
  return { jobs, read };
}
const stored = async (job: DeadJobRecord) => (await engineOf([job]).jobs.get(job.id))!;

/** The letter of a job whose last attempt ended so. */
async function letterOf(delivery: QueuedDelivery, abandonReason?: Error) {
  const result = await process(delivery, { attempt: 3, isLastAttempt: true, abandonReason });
  if (result.status !== 'dead') throw new Error('not dead');
  const { message: error } = result.error;
  return stored({ id: '1', delivery, attempt: 3, failedAt: new Date(5), error });
}
const of = (text: string) => queued(Buffer.from(text));

describe('the dead letter of a dead job', () => {
  it.each([
    ['no JSON'],
    [`${'['.repeat(2_000)}${']'.repeat(2_000)}`],
    ['{"eventName":"call:moved","callId":"c"}'],
    ['{"eventName":"call:lost","callId":"c"}'],
  ])('has the reason invalid-payload: %#', async (body) => {
    expect(await letterOf(of(body))).toMatchObject({ reason: 'invalid-payload', history: [{}] });
  });

  it('has it for a body that is no text, or no base64', async () => {
    const bytes = queued(Uint8Array.from([0xff, 0xfe]));
    expect(await letterOf(bytes)).toMatchObject({ reason: 'invalid-payload' });
    const letter = await letterOf({ ...bytes, body: '***' });
    expect(letter.reason).toBe('invalid-payload');
    expect(letter.rawBody).toEqual(new Uint8Array()); // toMatchObject accepts anything for it
  });

  it('has all that is known of the job', async () => {
    const { rawBody, ...letter } = await stored({
      ...{ id: '7', attempt: 2, failedAt: new Date(9_000), error: 'away' },
      failures: [
        { at: 5_000, attempt: 1, error: 'busy' },
        { at: 9_000, attempt: 2, error: 'away' },
      ],
      delivery: {
        ...{ tenant: 'acme', webhookId: 'id-1', timestamp: 4, receivedAt: 4_500, key: 'key-1' },
        ...{ eventName: 'call:moved', callId: 'c', body: btoa('{"callId":"c"}') },
      },
    });
    expect(Buffer.from(rawBody).toString()).toBe('{"callId":"c"}');
    expect(letter).toStrictEqual({
      ...{ id: '7', reason: 'handler-failed', source: 'queue', attempt: 2, error: 'away' },
      ...{ tenant: 'acme', webhookId: 'id-1', key: 'key-1', eventName: 'call:moved', callId: 'c' },
      ...{ timestamp: new Date(4_000), failedAt: new Date(9_000), bytes: 14 },
      history: [
        { at: new Date(5_000), source: 'queue', attempt: 1, error: 'busy' },
        { at: new Date(9_000), source: 'queue', attempt: 2, error: 'away' },
      ],
    });
  });

  it.each(['', '{}', '{"a":1}', '{"a":12}'])(
    'has no body in a list, and no field that the job has no value for: %s',
    async (body) => {
      const { jobs } = engineOf([
        {
          ...{ id: '7', attempt: 1, failedAt: new Date(9_000), error: 'away' },
          delivery: { webhookId: 'id-1', timestamp: 4, receivedAt: 4_500, body: btoa(body) },
        },
      ]);
      const [letter] = (await jobs.list()).letters;
      expect(letter).toStrictEqual({
        ...{ id: '7', reason: 'handler-failed', source: 'queue', attempt: 1, error: 'away' },
        ...{ webhookId: 'id-1', timestamp: new Date(4_000), failedAt: new Date(9_000) },
        bytes: body.length,
        history: [{ at: new Date(9_000), source: 'queue', attempt: 1, error: 'away' }],
      });
    },
  );

  it('has the reason handler-failed, also for crashes', async () => {
    const delivery = queuedCall('c');
    const known = { reason: 'handler-failed', eventName: 'call:completed', callId: 'c' };
    expect(await letterOf(delivery)).toMatchObject(known);
    const crash = new Error('6 workers died in this job.');
    expect(await letterOf(delivery, crash)).toMatchObject({ ...known, error: crash.message });
  });

  it('has at most 50 failures, without NUL', () => {
    let failures: ReturnType<typeof addFailure> = [];
    for (let attempt = 1; attempt <= 60; attempt++)
      failures = addFailure(failures, { at: attempt, attempt, error: 'a\0b' });
    expect(failures.map(({ attempt }) => attempt)).toEqual([
      1,
      ...Array.from({ length: 49 }, (_, at) => at + 12),
    ]);
    expect(failures[0]!.error).toBe('a\ufffdb');
  });
});

const INVALID = 'The body is no JSON.';

/** A dead job that failed at this second. */
const dead = (id: string, second: number, job: Partial<QueuedDelivery>, error = 'no') => ({
  ...{ id, attempt: 3, error, failedAt: new Date(second * 1_000) },
  delivery: queued(Buffer.from('{}'), job),
});

/** In the order of an engine: by time, then by id. */
const JOBS: DeadJobRecord[] = [
  dead('a', 1, { eventName: 'call:started', tenant: 'acme' }),
  dead('b', 2, { eventName: 'call:started', tenant: 'globex' }, INVALID),
  dead('c', 2, { eventName: 'call:completed', tenant: 'acme' }),
  dead('d', 3, { eventName: 'call:completed' }),
  dead('e', 4, { tenant: 'acme' }, INVALID),
  dead('f', 5, { eventName: 'half\ud800', tenant: 'nul\0' }),
];
const second = (seconds: number) => new Date(seconds * 1_000);

describe('the dead jobs of a queue', () => {
  it.each<[string, DeadLetterFilter | undefined, string]>([
    ['all of them', undefined, 'abcdef'],
    ['all of them, without a condition', {}, 'abcdef'],
    ['those of an event', { eventName: 'call:started' }, 'ab'],
    ['those of an event whose name is no valid text', { eventName: 'half\ud800' }, 'f'],
    ['those of a tenant, and none without one', { tenant: 'acme' }, 'ace'],
    ['those of a tenant with a NUL in its name', { tenant: 'nul\0' }, 'f'],
    ['those whose handler failed', { reason: 'handler-failed' }, 'acdf'],
    ['those that no retry can help', { reason: 'invalid-payload' }, 'be'],
    ['those since a time', { since: second(3) }, 'def'],
    ['those before a time', { until: second(3) }, 'abc'],
    ['those of a period', { since: second(2), until: second(4) }, 'bcd'],
    ['those that meet two conditions', { tenant: 'acme', eventName: 'call:started' }, 'a'],
    [
      'those of an event and a reason',
      { eventName: 'call:started', reason: 'handler-failed' },
      'a',
    ],
    ['none', { eventName: 'call:moved' }, ''],
  ])('can be listed and counted: %s', async (_name, filter, ids) => {
    const { jobs } = engineOf(JOBS);
    const { letters } = await jobs.list(filter);
    expect(letters.map(({ id }) => id).join('')).toBe(ids);
    expect(await jobs.count(filter)).toBe(ids.length);
  });

  it.each<[string, DeadLetterFilter, number, string[]]>([
    ['of all', {}, 2, ['ab', 'cd', 'ef']],
    ['of all, the last one shorter', {}, 4, ['abcd', 'ef']],
    ['of a tenant', { tenant: 'acme' }, 1, ['a', 'c', 'e']],
    ['of one page', {}, 6, ['abcdef']],
  ])('come in pages, each once: %s', async (_name, filter, limit, expected) => {
    const { jobs } = engineOf(JOBS);
    const pages: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await jobs.list({ ...filter, limit, cursor });
      pages.push(page.letters.map(({ id }) => id).join(''));
      cursor = page.cursor;
    } while (cursor !== undefined && pages.length < JOBS.length);
    expect(pages).toEqual(expected);
  });

  it('are read only as far as a page needs', async () => {
    const { jobs, read } = engineOf(JOBS);
    await jobs.list({ limit: 2 });
    expect(read).toEqual(['a', 'b', 'c']); // the third shows that there is another page
  });

  it('are not read for a query that is not valid', async () => {
    const { jobs, read } = engineOf(JOBS);
    await expect(jobs.list({ limit: 0 })).rejects.toMatchObject({ code: 'invalid-options' });
    await expect(jobs.count({ tenant: '' })).rejects.toMatchObject({ code: 'invalid-options' });
    expect(read).toEqual([]);
  });
});

describe('createJobProcessor', () => {
  const queued = (body: Uint8Array): QueuedDelivery => ({
    webhookId: 'id-1',
    timestamp: SECONDS,
    receivedAt: NOW,
    body: Buffer.from(body).toString('base64'),
  });
  const JOB = queued(bytes(JSON.stringify(STARTED)));
  const failing = { 'call:started': () => Promise.reject(new Error('no')) };

  it('tells the engine what to do, and logs failures', async () => {
    const logger = collectingLogger();
    const done = createJobProcessor({ logger, on: { 'call:started': () => undefined } });
    expect(await done(JOB)).toEqual({ status: 'done' });
    expect(logger.lines).toEqual([]);

    const process = createJobProcessor({ logger, on: failing, maxRuns: 2 });
    expect(await process(JOB)).toMatchObject({
      status: 'retry',
      error: { code: 'handler-failed' },
    });
    expect(await process(JOB, { attempt: 2 })).toMatchObject({ status: 'dead' });
    expect(await process(queued(bytes('{')))).toMatchObject({
      status: 'dead',
      error: { code: 'invalid-payload' },
    });
    expect(await process({ ...JOB, body: '%' })).toMatchObject({ status: 'dead' });
    expect(logger.lines).toHaveLength(4);
    const call = {
      ...{ eventName: 'call:started', callId: 'call-1', key: 'call-1:call:started' },
      ...{ webhookId: 'id-1', maxRuns: 2, source: 'queue' },
    };
    expect(logger.entries.slice(0, 2)).toMatchObject([
      {
        level: 'warn',
        message: 'call-webhooks: attempt 1 of 2 failed: The handler failed: Error: no',
        fields: { ...call, outcome: 'handler-failed', attempt: 1, retriedBy: 'queue' },
      },
      {
        level: 'error',
        message: 'call-webhooks: gave up after 2 attempts: The handler failed: Error: no',
        fields: { ...call, outcome: 'dead-lettered', attempt: 2, retriedBy: 'nobody' },
      },
    ]);
  });

  it('retries while deadLetter fails, and then calls only deadLetter', async () => {
    const letters: DeadLetter[] = [];
    let broken = true;
    const handler = jest.fn(() => Promise.reject(new Error('the CRM is down')));
    const process = createJobProcessor({
      logger: collectingLogger(),
      on: { 'call:started': handler },
      deadLetter(letter) {
        if (broken) throw new Error('the disk is full');
        letters.push(letter);
      },
    });
    const first = await process(JOB, { attempt: 5, isLastAttempt: true });
    expect(first).toMatchObject({
      status: 'retry',
      error: { message: expect.stringContaining('The deadLetter sink failed') },
      abandonReason: 'The handler failed: Error: the CRM is down',
    });
    const reason = (first as { abandonReason: string }).abandonReason;
    const again = (attempt: number) =>
      process(JOB, { attempt, isLastAttempt: true, abandonReason: new Error(reason) });
    expect(await again(6)).toMatchObject({ status: 'retry', abandonReason: reason });
    broken = false;
    expect(await again(7)).toMatchObject({ status: 'dead' });
    expect(letters).toMatchObject([{ attempt: 7, error: new Error(reason) }]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('ignores loggers that throw', async () => {
    const logger = {
      warn: () => Promise.reject(new Error('no log')),
      error: () => {
        throw new Error('no log');
      },
    };
    const process = createJobProcessor({ logger, on: failing });
    expect(await process(JOB)).toMatchObject({ status: 'retry' });
    expect(await process(JOB, { isLastAttempt: true })).toMatchObject({ status: 'dead' });
  });

  it('returns messages that every database can store', async () => {
    const error = () => Promise.reject(new Error('half \ud83d of a pair, \0 and \u{1f4de}'));
    const process = createJobProcessor({
      logger: collectingLogger(),
      on: { 'call:started': error },
    });
    expect(await process(JOB)).toMatchObject({
      error: { message: 'The handler failed: Error: half \ufffd of a pair,   and \u{1f4de}' },
    });
  });
});
