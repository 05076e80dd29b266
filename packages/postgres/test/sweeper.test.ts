import { expect, it } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { Sweeper } from '../src/sweeper.ts';

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
  expect(logger.entries).toMatchObject([
    {
      level: 'warn',
      message:
        'call-webhooks: deleting old rows of the Postgres store failed: Error: permission denied for table events',
      fields: { docs: expect.stringContaining('stores.html#postgres') },
    },
  ]);
});
