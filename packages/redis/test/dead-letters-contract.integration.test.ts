import * as runner from '@jest/globals';
import { collectingLogger, describeWithProgram } from '@call-webhooks/contract-tests';
import { deadLettersContractTests } from '@call-webhooks/store-tests';
import { Redis } from 'ioredis';
import { redisDeadLetters } from '../src/index.ts';
import { age } from './age.ts';
import { refusals } from './refusals.ts';
import { useRedis } from './use-redis.ts';

// The other clients run them in test/own-packages.
describeWithProgram('redis-server', 'redisDeadLetters on a real server', () => {
  const test = useRedis();

  deadLettersContractTests(runner, {
    name: 'redisDeadLetters over ioredis',
    async open() {
      await test.admin.flushall();
      const clients = Array.from(
        { length: 4 },
        () => new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 }),
      );
      const [deadLetters, ...others] = clients.map((client) =>
        redisDeadLetters(client, { logger: collectingLogger() }),
      );
      return {
        deadLetters: deadLetters!,
        others,
        advance: (ms) => age(test.admin, ms),
        refusals: refusals(() => test.admin),
        close: async () => {
          for (const client of clients) client.disconnect();
        },
      };
    },
  });
});
