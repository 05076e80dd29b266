import { describe, expect, it, jest } from '@jest/globals';
import { sweepingBeside } from '../../src/stores.ts';
import { deferred, Lines } from '../support.ts';

/** A sweeper, and what it did and logged. */
function setup(sweep: () => Promise<unknown>) {
  const swept = jest.fn(sweep);
  const logger = new Lines();
  const docs = 'stores.md#postgres';
  const sweeper = sweepingBeside({ sweep: swept, logger, database: 'Postgres', docs });
  const claims = async (count: number) => {
    for (let at = 0; at < count; at++) {
      sweeper.count();
      await sweeper.idle();
    }
  };
  return { swept, logger, sweeper, claims };
}

describe('the old rows of a store are deleted', () => {
  it('after the first claim, and after every hundredth from then on', async () => {
    const { swept, claims, logger } = setup(() => Promise.resolve(3));
    const counts: number[] = [];
    for (const count of [1, 99, 1, 99, 1, 798, 1]) {
      await claims(count);
      counts.push(swept.mock.calls.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 10, 10]);
    await claims(1);
    expect(swept).toHaveBeenCalledTimes(11);
    expect(logger.entries).toEqual([]);
  });

  it('by one sweep at a time, which no claim waits for, and idle() does', async () => {
    const go = deferred();
    const { swept, sweeper } = setup(() => go.promise);
    for (let at = 0; at < 500; at++) sweeper.count();
    expect(swept).toHaveBeenCalledTimes(1);
    let isIdle = false;
    const idle = sweeper.idle().then(() => (isIdle = true));
    await new Promise(setImmediate);
    expect(isIdle).toBe(false);
    go.resolve();
    await idle;
    sweeper.count();
    expect(swept).toHaveBeenCalledTimes(2);
    await sweeper.idle();
  });

  it.each<[how: string, fail: () => Promise<unknown>]>([
    ['rejects', () => Promise.reject(new RangeError('the disk is full'))],
    [
      'throws',
      () => {
        throw new RangeError('the disk is full');
      },
    ],
  ])('again after a sweep that %s, of which one line tells', async (_how, fail) => {
    const { swept, claims, logger, sweeper } = setup(fail);
    await expect(sweeper.idle()).resolves.toBeUndefined();
    await claims(301);
    expect(swept).toHaveBeenCalledTimes(4);
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        message:
          'call-webhooks: deleting old rows of the Postgres store failed: RangeError: the disk is full',
        fields: {
          err: expect.objectContaining({ name: 'RangeError', message: 'the disk is full' }),
          docs: expect.stringMatching(/\/stores\.html#postgres$/),
        },
      },
    ]);
  });
});
