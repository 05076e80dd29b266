import { afterAll, beforeAll } from '@jest/globals';
import { redisServer, waitFor, type RedisServer } from '@call-webhooks/contract-tests';
import { Redis } from 'ioredis';

/** A server of a suite's own, and a client that looks after it. */
export interface RedisUnderTest {
  server: RedisServer;
  admin: Redis;
}

/** Call it in a `describe`. What it returns is filled in before its tests. */
export function useRedis(options: Parameters<typeof redisServer>[0] = {}): RedisUnderTest {
  const test = {} as RedisUnderTest;
  beforeAll(async () => {
    test.server = await redisServer(options);
    await test.server.start();
    test.admin = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    if (options.cluster)
      await waitFor(async () => (await test.admin.cluster('INFO')).includes('cluster_state:ok'));
  });
  afterAll(async () => {
    test.admin.disconnect();
    await test.server.stop();
  });
  return test;
}
