import { describe, expect, it } from '@jest/globals';
import { pgBossDeadJobs } from '../src/index.ts';
import { BEYOND, DELIVERY, recordingBoss } from './recording-boss.ts';

const END_OF_TIME = 8.64e15;
const LOWEST = '00000000-0000-0000-0000-000000000000';
/** The time is a number of milliseconds, so that clients agree about it. */
const COLUMNS = 'id, data, floor(extract(epoch FROM created_on) * 1000) AS failed_at';
/** A dead job whose worker has not completed it yet could still fail to: it is not shown. */
const IS_DEAD = `WHERE name = $1 AND state = 'created' AND data -> 'failure' IS NOT NULL
    AND NOT EXISTS (SELECT FROM pgboss.job AS original
      WHERE original.name = $2 AND original.id = job.id AND original.state <= 'active')`;
const idOf = (number: number) => `0123abcd-0000-8000-8000-${String(number).padStart(12, '0')}`;

/** A row as Postgres gives it: its time is a text. */
const row = (number: number, failures = [{ at: 5, attempt: 3, error: 'the CRM is down' }]) => ({
  id: idOf(number),
  data: { ...DELIVERY, failure: { attempt: 3, failures, retryDelay: 60, expireInSeconds: 300 } },
  failed_at: String(1_000 + number),
});

/** @param pages the rows of each answer; later ones are empty */
function opened(pages: unknown[][] = [], options = {}, more = {}) {
  const left = [...pages];
  const recorded = recordingBoss({
    executeSql: () => ({ rows: left.shift() ?? [] }),
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
    expect(callsOf('executeSql')).toEqual([
      [
        expect.stringContaining(`SELECT ${COLUMNS} FROM pgboss.job\n      ${IS_DEAD} AND floor`),
        ['call-webhooks-dead', 'call-webhooks', 0, END_OF_TIME, 0, LOWEST, 200],
      ],
    ]);
  });

  it('has the last failure as its error, and none if no failure is kept', async () => {
    const failures = ['first', 'last'].map((error) => ({ at: 5, attempt: 1, error }));
    const { deadJobs } = opened([[row(1, failures), row(2, [])]]);
    const { letters } = await deadJobs.list();
    expect(letters.map(({ error }) => error)).toEqual(['last', '']);
  });

  it('reads on after a full page, from its last job, and not after another one', async () => {
    const full = Array.from({ length: 200 }, (_, index) => row(index));
    const { deadJobs, valuesOf } = opened([full, full.slice(1)]);
    expect(await deadJobs.count()).toBe(399);
    expect(valuesOf().map((values) => (values as unknown[]).slice(4))).toEqual([
      [0, LOWEST, 200],
      [1_199, idOf(199), 200],
    ]);
  });

  it('ends with an empty page after a full one', async () => {
    const full = Array.from({ length: 200 }, (_, index) => row(index));
    const { deadJobs, valuesOf } = opened([full]);
    expect(await deadJobs.count()).toBe(200);
    expect(valuesOf()).toHaveLength(2);
  });

  it('is read between two times, from the cursor of a page, in the queues that are named', async () => {
    const { deadJobs, valuesOf } = opened([[row(1), row(2)]], {
      ...{ queue: 'calls', deadLetterQueue: 'lost' },
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
        code: 'invalid-options',
        message: expect.stringContaining(
          'Invalid options of list: cursor: expected the cursor of a page.',
        ),
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
    const asked = `SELECT ${COLUMNS} FROM pgboss.job ${IS_DEAD} AND id = $3::uuid`;
    expect(callsOf('executeSql')).toEqual([
      [asked, ['call-webhooks-dead', 'call-webhooks', idOf(1)]],
      [asked, ['call-webhooks-dead', 'call-webhooks', idOf(2)]],
    ]);
  });

  it('is removed by its id, if it is there', async () => {
    const { deadJobs, callsOf } = opened([[{}]], { queue: 'calls', schema: 'mine' });
    expect(await deadJobs.remove(idOf(1))).toBe(true);
    expect(await deadJobs.remove(idOf(1))).toBe(false);
    expect(callsOf('executeSql')[0]).toEqual([
      `DELETE FROM mine.job ${IS_DEAD.replace('pgboss', 'mine')} AND id = $3::uuid RETURNING 1`,
      ['calls-dead', 'calls', idOf(1)],
    ]);
  });

  it('is requeued for one more run, once its queue is sure to be there', async () => {
    const { deadJobs, calls, callsOf } = opened(
      [[{}]],
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

describe('the tables of pg-boss', () => {
  it.each<[string, object, string, string]>([
    ['10', {}, "* interval '1 second' AS expire_in", 'expire_seconds'],
    ['12', { findJobs: () => [] }, '* 1 AS expire_seconds', 'expire_in'],
  ])('are those of version %s', async (_version, more, column, other) => {
    const { deadJobs, callsOf } = opened([], {}, more);
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
