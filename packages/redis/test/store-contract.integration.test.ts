import * as runner from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { storeContractTests } from '@call-webhooks/store-tests';
import { Cluster, Redis } from 'ioredis';
import { redisStore } from '../src/index.ts';
import { age, size } from './age.ts';
import { refusals } from './refusals.ts';
import { useRedis } from './use-redis.ts';

// The other clients run them in test/own-packages.

describeWithProgram('redis-server', 'redisStore on a real server', () => {
  const test = useRedis();

  storeContractTests(runner, {
    name: 'redisStore over ioredis',
    async open() {
      await test.admin.flushall();
      const clients = Array.from(
        { length: 4 },
        () => new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 }),
      );
      const [store, ...others] = clients.map((client) => redisStore(client));
      return {
        store: store!,
        others,
        now: Date.now,
        skewed: (ms) => redisStore(clients[0]!, { now: () => Date.now() + ms }),
        advance: (ms) => age(test.admin, ms),
        size: () => size(test.admin),
        refusals: refusals(() => test.admin),
        close: async () => {
          for (const client of clients) client.disconnect();
        },
      };
    },
  });
});

describeWithProgram('redis-server', 'redisStore on a cluster', () => {
  const test = useRedis({ cluster: true });

  storeContractTests(runner, {
    name: 'redisStore over a Cluster of ioredis',
    open() {
      const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
        redisOptions: { socketTimeout: 60_000 },
      });
      const { 'it is a replica': _replica, ...others } = refusals(() => test.admin);
      return Promise.resolve({
        store: redisStore(cluster),
        now: Date.now,
        skewed: (ms) => redisStore(cluster, { now: () => Date.now() + ms }),
        advance: (ms) => age(test.admin, ms),
        size: () => size(test.admin),
        refusals: others, // a node of a cluster can't be made a replica like this
        close: async () => {
          cluster.disconnect();
        },
      });
    },
  });
});
