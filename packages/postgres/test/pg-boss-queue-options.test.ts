import { describe, expect, it } from '@jest/globals';
import { pgBossQueue, type PgBossQueueOptions } from '../src/index.ts';
import { BEYOND, DELIVERY, recordingBoss } from './recording-boss.ts';

/** With what a queue sends its jobs. */
async function sendOptionsOf(options?: PgBossQueueOptions) {
  const { boss, callsOf } = recordingBoss();
  await pgBossQueue(boss, options).enqueue(DELIVERY);
  const { id: _id, ...sendOptions } = callsOf('send')[0]![2] as Record<string, unknown>;
  return sendOptions;
}

const DAY_MS = 86_400_000;

describe('a job of a queue in pg-boss', () => {
  it('is run every minute, up to 5,000 times, for five minutes each, and kept for 14 days', async () => {
    expect(await sendOptionsOf()).toStrictEqual({
      retryLimit: BEYOND + 4_999,
      ...{ retryDelay: 60, expireInSeconds: 300, retentionSeconds: 1_209_600 },
      deadLetter: 'call-webhooks-dead',
    });
  });

  it('has what the options say, in whole seconds, and never less', async () => {
    const options = {
      ...{ queue: 'calls', deadLetterQueue: 'lost', maxRuns: 3 },
      ...{ backoff: { initialDelay: 1_001 }, expireIn: 2_001, retainFor: 60_001 },
    };
    expect(await sendOptionsOf(options)).toStrictEqual({
      retryLimit: BEYOND + 2,
      ...{ retryDelay: 2, expireInSeconds: 3, retentionSeconds: 61, deadLetter: 'lost' },
    });
    expect(await sendOptionsOf({ queue: 'calls' })).toMatchObject({ deadLetter: 'calls-dead' });
  });

  it.each<[string, PgBossQueueOptions, object]>([
    ['the fewest attempts', { maxRuns: 1 }, { retryLimit: BEYOND }],
    ['the most attempts', { maxRuns: 1_000_000 }, { retryLimit: BEYOND + 999_999 }],
    ['no delay', { backoff: { initialDelay: 0 } }, { retryDelay: 0 }],
    ['the shortest run', { expireIn: 1_000 }, { expireInSeconds: 1 }],
    ['the longest run', { expireIn: DAY_MS }, { expireInSeconds: 86_400 }],
    ['the shortest life', { retainFor: 60_000 }, { retentionSeconds: 60 }],
    ['ten years', { retainFor: 3_650 * DAY_MS }, { retentionSeconds: 315_360_000 }],
    ['one delay, named twice', { backoff: { initialDelay: 5, maxDelay: 5 } }, { retryDelay: 1 }],
    ['the default as the longest delay', { backoff: { maxDelay: 60_000 } }, { retryDelay: 60 }],
  ])('may have %s', async (_what, options, expected) => {
    expect(await sendOptionsOf(options)).toMatchObject(expected);
  });

  const attempts = 'expected a whole number from 1 to 1000000';
  const expireIn = 'expected whole milliseconds from 1000 to 86400000';
  const retainFor = 'expected whole milliseconds from 60000 to 315360000000';
  const sameDelay = 'backoff.maxDelay: expected the same as initialDelay, since the delay is kept';
  it.each<[object, string]>([
    [{ queue: '' }, 'queue: expected the name of a queue'],
    [{ deadLetterQueue: '' }, 'deadLetterQueue: expected the name of a queue'],
    [{ maxRuns: 0 }, `maxRuns: ${attempts}`],
    [{ maxRuns: 1_000_001 }, `maxRuns: ${attempts}`],
    [{ expireIn: 999 }, `expireIn: ${expireIn}`],
    [{ expireIn: DAY_MS + 1 }, `expireIn: ${expireIn}`],
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
