import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deferred } from '@call-webhooks/contract-tests';
import { Sweeper } from '../src/sweeper.ts';

const claim = (sweeper: Sweeper, times: number) => {
  for (let i = 0; i < times; i++) sweeper.count();
};

describe('the sweeper of a store', () => {
  it('tells its logger once that old rows cannot be deleted, and goes on', async () => {
    let sweeps = 0;
    const logger = collectingLogger();
    const sweeper = new Sweeper(() => {
      sweeps++;
      return Promise.reject(new Error('permission denied for table events'));
    }, logger);
    for (let claims = 0; claims < 201; claims++) {
      sweeper.count();
      await sweeper.idle();
    }
    expect(sweeps).toBe(3);
    expect(logger.entries).toEqual([
      {
        level: 'warn',
        message:
          'call-webhooks: deleting old rows of the Postgres store failed: Error: permission denied for table events',
        fields: {
          err: expect.objectContaining({ message: 'permission denied for table events' }),
          docs: expect.stringMatching(/\/stores\.html#postgres$/),
        },
      },
    ]);
  });

  it('sweeps after the first claim, and then after every hundredth', async () => {
    const logger = collectingLogger();
    const sweep = jest.fn(() => Promise.resolve(1));
    const sweeper = new Sweeper(sweep, logger);
    expect(sweep).not.toHaveBeenCalled();
    for (const [claims, sweeps] of [
      [1, 1],
      [99, 1],
      [1, 2],
      [99, 2],
      [1, 3],
    ] as const) {
      claim(sweeper, claims);
      await sweeper.idle();
      expect(sweep).toHaveBeenCalledTimes(sweeps);
    }
    expect(logger.entries).toEqual([]);
  });

  it('sweeps once at a time, and is idle only when that has ended', async () => {
    const ended = deferred<number>();
    const sweep = jest.fn(() => ended.promise);
    const sweeper = new Sweeper(sweep, collectingLogger());
    claim(sweeper, 101);
    expect(sweep).toHaveBeenCalledTimes(1);
    let isIdle = false;
    const idle = sweeper.idle().then(() => (isIdle = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isIdle).toBe(false);
    ended.resolve(0);
    await idle;
    claim(sweeper, 100);
    expect(sweep).toHaveBeenCalledTimes(2);
  });

  it('is idle before its first claim', async () => {
    const sweep = jest.fn(() => Promise.resolve(0));
    await new Sweeper(sweep, collectingLogger()).idle();
    expect(sweep).not.toHaveBeenCalled();
  });
});
