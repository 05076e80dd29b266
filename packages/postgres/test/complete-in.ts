import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import { completeInContractTests } from '@call-webhooks/store-tests';
import { postgresStore, type PostgresTransaction } from '../src/index.ts';
import type { Clients } from './effects.ts';
import { openWithEffects } from './open-with-effects.ts';
import { withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

/** What each client shows whose transactions `completeIn` takes. */
export function completeInTests(clients: Clients): void {
  withPostgres('completeIn on a server', () => {
    const test = usePostgres();

    for (const [name, open] of Object.entries(clients)) {
      completeInContractTests(runner, {
        name,
        open: () => openWithEffects(test.pool, (schema) => open(test.server.url, schema)),
      });

      it(`refuses a transaction on another database: ${name}`, async () => {
        const opened = await openWithEffects(test.pool, (schema) => open(test.server.url, schema));
        const elsewhere = postgresStore(test.pool, { schema: 'elsewhere' });
        const transaction = opened.transact(async ({ tx }) => {
          await elsewhere.completeIn(tx as PostgresTransaction, 'event', 'token');
        });
        await expect(transaction).rejects.toMatchObject({
          code: 'invalid-options',
          message: expect.stringContaining('does not contain'),
          cause: expect.any(Error),
        });
        await opened.close();
      });
    }
  });
}
