import * as runner from '@jest/globals';
import { deadLettersContractTests } from '@call-webhooks/store-tests';
import { openTestDeadLetters, withPostgres } from './support.ts';
import { usePostgres } from './use-postgres.ts';

withPostgres('postgresDeadLetters', () => {
  const test = usePostgres();

  deadLettersContractTests(runner, {
    name: 'a Pool of pg',
    open: () => openTestDeadLetters(test.pool),
  });
  deadLettersContractTests(runner, {
    name: "rows as Neon's HTTP driver gives them",
    open: () =>
      openTestDeadLetters({
        query: async (text, values) => (await test.pool.query(text, values)).rows as unknown[],
      }),
  });
});
