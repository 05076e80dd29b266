import { describe, expect, it } from '@jest/globals';
import { pgBossDeadJobs } from '../src/index.ts';
import { BEYOND, DELIVERY, recordingBoss } from './recording-boss.ts';
import { answer } from './recording-client.ts';

const END_OF_TIME = 8.64e15;
const LOWEST = '00000000-0000-0000-0000-000000000000';
const idOf = (number: number) => `0123abcd-0000-8000-8000-${String(number).padStart(12, '0')}`;

const row = (number: number, failures = [{ at: 5, attempt: 3, error: 'the CRM is down' }]) => ({
  id: idOf(number),
  data: { ...DELIVERY, failure: { attempt: 3, failures, retryDelay: 60, expireInSeconds: 300 } },
  failedAt: 1_000 + number,
});

/** @param answers one after another; later ones are empty lists */
function opened(answers: unknown[] = [], options = {}, more = {}) {
  const left = [...answers];
  const recorded = recordingBoss({
    executeSql: () => answer(left.shift() ?? []),
    ...more,
  });
  const valuesOf = () => recorded.callsOf('executeSql').map(([, values]) => values);
  return { ...recorded, deadJobs: pgBossDeadJobs(recorded.boss, options), valuesOf };
}

describe('the list of dead jobs', () => {
  it('asks for the first page of all, and shows each as a letter with its failures', async () => {
    const { deadJobs, callsOf } = opened([[row(1)]]);
    const { letters, cursor } = await deadJobs.list();
    expect(cursor).toBeUndefined();
    expect(letters).toMatchObject([
      {
        ...{ id: idOf(1), attempt: 3, reason: 'handler-failed', error: 'the CRM is down' },
        ...{ key: DELIVERY.key, webhookId: DELIVERY.webhookId, eventName: 'call:completed' },
        failedAt: new Date(1_001),
        history: [{ at: new Date(5), attempt: 3, error: 'the CRM is down' }],
      },
    ]);
    expect(callsOf('executeSql')[0]).toEqual([
      expect.stringContaining('FROM pgboss.job'),
      ['call-webhooks-dead', 'call-webhooks', 0, END_OF_TIME, 0, LOWEST, 200],
    ]);
  });

  it('has the last failure as its error, and none if no failure is kept', async () => {
    const failures = ['first', 'last'].map((error) => ({ at: 5, attempt: 1, error }));
    const { deadJobs } = opened([[row(1, failures), row(2, [])]]);
    const { letters } = await deadJobs.list();
    expect(letters.map(({ error }) => error)).toEqual(['last', '']);
  });

  it('reads on from the last job of a page, until there are no more', async () => {
    const full = Array.from({ length: 200 }, (_, index) => row(index));
    const { deadJobs, valuesOf } = opened([full, full.slice(1)]);
    expect(await deadJobs.count()).toBe(399);
    expect(valuesOf().map((values) => (values as unknown[]).slice(4))).toEqual([
      [0, LOWEST, 200],
      [1_199, idOf(199), 200],
      [1_199, idOf(199), 200],
    ]);
  });

  it('is read between two times, from the cursor of a page, in the queues that are named', async () => {
    const { deadJobs, valuesOf } = opened([[row(1), row(2)]], {
      ...{ queue: 'calls', deadQueue: 'lost' },
    });
    const { cursor } = await deadJobs.list({ limit: 1 });
    await deadJobs.list({ cursor, since: new Date(5), until: new Date(9) });
    expect(valuesOf()[1]).toEqual(['lost', 'calls', 5, 9, 1_001, idOf(1), 200]);
  });

  it.each(['42', `x${idOf(1)}`, `${idOf(1)}0`, idOf(1).replaceAll('-', ''), idOf(1).slice(0, 8)])(
    'refuses a cursor that ends in %s, which is no id of pg-boss',
    async (id) => {
      const { deadJobs, calls } = opened();
      await expect(deadJobs.list({ cursor: `1.${id}` })).rejects.toMatchObject({
        code: 'invalid-cursor',
      });
      expect(calls).toEqual([]);
    },
  );

  it('fails if Postgres does', async () => {
    const error = new Error('down');
    const { deadJobs } = opened(
      [],
      {},
      {
        executeSql() {
          throw error;
        },
      },
    );
    await expect(deadJobs.list()).rejects.toBe(error);
    await expect(deadJobs.requeue(idOf(1))).rejects.toBe(error);
  });
});

describe('one dead job', () => {
  it('is found by its id', async () => {
    const { deadJobs, callsOf } = opened([[row(1)]]);
    expect(await deadJobs.get(idOf(1))).toMatchObject({ id: idOf(1), attempt: 3 });
    expect(await deadJobs.get(idOf(2))).toBeUndefined();
    expect(callsOf('executeSql').map(([, values]) => values)).toEqual([
      ['call-webhooks-dead', 'call-webhooks', idOf(1)],
      ['call-webhooks-dead', 'call-webhooks', idOf(2)],
    ]);
  });

  it('is removed by its id, if it is there', async () => {
    const { deadJobs, callsOf } = opened([true, false], { queue: 'calls', schema: 'mine' });
    expect(await deadJobs.remove(idOf(1))).toBe(true);
    expect(await deadJobs.remove(idOf(1))).toBe(false);
    expect(callsOf('executeSql')[0]).toEqual([
      expect.stringContaining('DELETE FROM mine.job'),
      ['calls-dead', 'calls', idOf(1)],
    ]);
  });

  it('is requeued for one more run, once its queue is sure to be there', async () => {
    const { deadJobs, calls, callsOf } = opened(
      [true, false],
      { queue: 'calls' },
      { getQueue: () => null },
    );
    expect(await deadJobs.requeue(idOf(1))).toBe(true);
    expect(calls.map(([method, name]) => [method, name]).slice(0, 4)).toEqual([
      ['getQueue', 'calls-dead'],
      ['createQueue', 'calls-dead'],
      ['getQueue', 'calls'],
      ['createQueue', 'calls'],
    ]);
    expect(callsOf('executeSql')).toEqual([
      [
        expect.stringMatching(/^WITH dead AS [^]* INSERT INTO pgboss\.job /),
        ['calls-dead', 'calls', idOf(1), BEYOND],
      ],
    ]);
    expect(await deadJobs.requeue(idOf(1))).toBe(false);
  });

  it.each(['42', '', `x${idOf(1)}`, `${idOf(1)}0`])('is not sought as %j', async (id) => {
    const { deadJobs, calls } = opened([[row(1)], [row(1)], [row(1)]]);
    expect(await deadJobs.get(id)).toBeUndefined();
    expect(await deadJobs.remove(id)).toBe(false);
    expect(await deadJobs.requeue(id)).toBe(false);
    expect(calls).toEqual([]);
  });
});

describe('an unexpected answer', () => {
  it.each([true, {}, 'a', 5, [{}], [{ id: idOf(1) }], ['a']])(
    'is no list, and no dead job: %j',
    async (odd) => {
      const { deadJobs } = opened([odd, odd, odd]);
      for (const call of [
        () => deadJobs.list(),
        () => deadJobs.get(idOf(1)),
        () => deadJobs.count(),
      ])
        await expect(call()).rejects.toThrow('an unexpected answer');
    },
  );

  it.each([null, 1, 'true', []])('is no yes, and no no: %j', async (odd) => {
    const { deadJobs } = opened([odd, odd]);
    for (const call of [() => deadJobs.remove(idOf(1)), () => deadJobs.requeue(idOf(1))])
      await expect(call()).rejects.toThrow('an unexpected answer');
  });

  it.each([{ rows: [] }, [], undefined, { rows: [[1]] }, { rows: [{ id: 'a', data: {} }] }])(
    'is an error of the client in another shape: %j',
    async (reply) => {
      const { boss } = recordingBoss({ executeSql: () => reply });
      const deadJobs = pgBossDeadJobs(boss);
      for (const call of [() => deadJobs.list(), () => deadJobs.get(idOf(1))])
        await expect(call()).rejects.toThrow('did not return a row with a single text');
      await expect(deadJobs.requeue(idOf(1))).rejects.toThrow(
        'did not return a row with a single text',
      );
    },
  );
});

describe('the tables of pg-boss', () => {
  it.each<[string, object, string, string]>([
    ['10', {}, "* interval '1 second' AS expire_in", 'expire_seconds'],
    ['12', { findJobs: () => [] }, '* 1 AS expire_seconds', 'expire_in'],
  ])('are those of version %s', async (_version, more, column, other) => {
    const { deadJobs, callsOf } = opened([true], {}, more);
    await deadJobs.requeue(idOf(1));
    const [text] = callsOf('executeSql')[0]!;
    expect(text).toContain(column);
    expect(text).not.toMatch(new RegExp(`${other}\\b`));
  });

  it('are in a schema whose name is checked, and pg-boss is as well', () => {
    const { boss } = recordingBoss();
    expect(() => pgBossDeadJobs(boss, { schema: 'a"b' })).toThrow(
      'Invalid options of pgBossDeadJobs: schema: expected the name of a schema, without quotes.',
    );
    expect(() => pgBossDeadJobs({} as never)).toThrow(
      'Invalid pg-boss of pgBossDeadJobs: it has no createQueue().',
    );
  });
});
