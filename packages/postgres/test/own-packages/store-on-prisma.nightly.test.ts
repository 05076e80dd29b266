import * as runner from '@jest/globals';
import { storeContractTests } from '@call-webhooks/store-tests';
import { openTestStore, withPostgres } from '../support.ts';
import { usePostgres } from '../use-postgres.ts';
import { openPrisma } from './prisma.ts';

withPostgres('postgresStore through Prisma', () => {
  const test = usePostgres();

  storeContractTests(runner, {
    name: 'Prisma, as in docs/exactly-once.md',
    async open() {
      const prisma = openPrisma(test.server.url, 'public');
      const opened = await openTestStore({
        query: (text: string, values: unknown[] = []) => prisma.$queryRawUnsafe(text, ...values),
      });
      return {
        ...opened,
        async close() {
          await opened.close();
          await prisma.$disconnect();
        },
      };
    },
  });
});
