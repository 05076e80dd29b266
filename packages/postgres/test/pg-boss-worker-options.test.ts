import { describe, expect, it } from '@jest/globals';
import { createPgBossWorker } from '../src/index.ts';
import { recordingBoss } from './recording-boss.ts';

describe('a worker of pg-boss', () => {
  it.each([
    ['queue', '', 'expected the name of a queue'],
    ['deadLetterQueue', '', 'expected the name of a queue'],
    ['schema', 'a"b', 'expected the name of a schema, without quotes'],
    ['concurrency', 0, 'expected a whole number from 1 to 10000'],
    ['concurrency', 10_001, 'expected a whole number from 1 to 10000'],
    ['pollEvery', 0, 'expected whole milliseconds from 1 to 2147483647'],
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
