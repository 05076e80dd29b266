import { describe, expect, it, jest } from '@jest/globals';
import { jobTransaction } from '../src/pg-boss-transaction.ts';
import { fetchedJob, recordingBoss } from './recording-boss.ts';

const JOB = fetchedJob({ id: '00000000-0000-8000-8000-000000000001', retryCount: 7 });

function transaction(rows: unknown[] = []) {
  const recorded = recordingBoss({ executeSql: () => ({ rows }) });
  const { boss, callsOf } = recorded;
  return { ...jobTransaction(JOB, { boss, queue: 'calls', schema: 'mine' }), callsOf };
}

const hex = (text: string) => Buffer.from(text).toString('hex');

describe('the job of a run, in a transaction of its handler', () => {
  it('is completed by its name, its id and its count, in the schema of pg-boss', async () => {
    const query = jest.fn((_text: string) => Promise.resolve({ rows: [{ status: 'done' }] }));
    expect(await transaction().completeIn({ query })).toBe(true);
    expect(query).toHaveBeenCalledTimes(1);
    const text = query.mock.calls[0]![0];
    expect(text).toContain(
      "UPDATE mine.job SET state = 'completed', completed_on = now(), output = NULL WHERE (",
    );
    expect(text).toContain(
      `(name = convert_from(decode('${hex('calls')}', 'hex'), 'UTF8') AND id = convert_from(decode('${hex(JOB.id)}', 'hex'), 'UTF8')::uuid AND retry_count = 7 AND state IN ('active', 'completed'))`,
    );
  });

  it.each<[string, unknown[], boolean]>([
    ['this run completed it', [{ done: true }], true],
    ['it did not', [{ done: false }], false],
    ['it is gone', [], false],
    ['the client says something else', [{ done: 't' }], false],
  ])('is completed only if the server says so: %s', async (_what, rows, done) => {
    const { isCompleted, callsOf } = transaction(rows);
    expect(await isCompleted()).toBe(done);
    expect(callsOf('executeSql')).toEqual([
      [
        expect.stringMatching(/retry_count = \$3::int .* FROM mine\.job .* FOR SHARE$/),
        ['calls', JOB.id, 7],
      ],
    ]);
  });

  it('is unknown while Postgres does not answer', async () => {
    const error = new Error('down');
    const { boss } = recordingBoss({
      executeSql() {
        throw error;
      },
    });
    const { isCompleted } = jobTransaction(JOB, { boss, queue: 'calls', schema: 'mine' });
    await expect(isCompleted()).rejects.toBe(error);
  });
});
