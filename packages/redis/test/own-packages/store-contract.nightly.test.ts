import * as runner from '@jest/globals';
import { afterAll, beforeAll } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import { storeContractTests } from '@call-webhooks/store-tests';
import { GlideClusterClient } from '@valkey/valkey-glide';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { redisStore } from '../../src/index.ts';
import { age } from '../age.ts';
import { clusterOfTwo } from '../cluster-of-two.ts';
import { CLIENTS, type Connected } from './clients.ts';
import { refusals } from '../refusals.ts';
import { useRedis } from '../use-redis.ts';

/** Run in the integration tests, with a Cluster of ioredis. */
const WITHOUT = ['refusals', 'clock', 'size'] as const;

describeWithProgram('redis-server', 'redisStore on a real server', () => {
  const test = useRedis();

  for (const [name, connect] of Object.entries(CLIENTS))
    storeContractTests(runner, {
      name: `redisStore over ${name}`,
      async open() {
        await test.admin.flushall();
        await test.admin.script('FLUSH');
        const connections: Connected[] = [];
        for (let i = 0; i < 4; i++) connections.push(await connect(test.server.port));
        const [store, ...others] = connections.map(({ client }) => redisStore(client));
        return {
          store: store!,
          others,
          now: Date.now,
          skewed: (ms) => redisStore(connections[0]!.client, { now: () => Date.now() + ms }),
          refusals: refusals(() => test.admin),
          advance: (ms) => age(test.admin, ms),
          size: () => test.admin.dbsize(),
          close: async () => {
            await Promise.all(connections.map(({ close }) => close()));
          },
        };
      },
    });
});

describeWithProgram(
  'redis-server',
  'redisStore on a cluster, which refuses scripts over two slots',
  () => {
    const test = useRedis({ cluster: true });
    const advance = (ms: number) => age(test.admin, ms);

    storeContractTests(runner, {
      name: 'redisStore over a Cluster of ioredis',
      without: WITHOUT,
      open() {
        const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
          redisOptions: { socketTimeout: 60_000 },
        });
        const close = async () => {
          cluster.disconnect();
        };
        return Promise.resolve({ store: redisStore(cluster), now: Date.now, advance, close });
      },
    });

    storeContractTests(runner, {
      name: 'redisStore over a cluster client of node-redis',
      without: WITHOUT,
      async open() {
        const cluster = createCluster({
          rootNodes: [{ url: `redis://127.0.0.1:${test.server.port}` }],
        });
        await cluster.connect();
        return {
          store: redisStore(cluster, { prefix: 'other' }),
          now: Date.now,
          advance,
          close: async () => {
            cluster.destroy();
          },
        };
      },
    });

    storeContractTests(runner, {
      name: 'redisStore over GlideClusterClient',
      without: WITHOUT,
      async open() {
        const cluster = await GlideClusterClient.createClient({
          addresses: [{ host: '127.0.0.1', port: test.server.port }],
          requestTimeout: 5_000,
        });
        return {
          store: redisStore(cluster, { prefix: 'glide' }),
          now: Date.now,
          advance,
          close: async () => cluster.close(),
        };
      },
    });
  },
);

describeWithProgram('redis-server', 'redisStore on a cluster of two nodes', () => {
  let cluster: Awaited<ReturnType<typeof clusterOfTwo>>;
  beforeAll(async () => {
    cluster = await clusterOfTwo();
  });
  afterAll(() => cluster.stop());

  storeContractTests(runner, {
    without: WITHOUT,
    name: 'redisStore, where a group and its events may be on different nodes',
    open() {
      const clients = Array.from({ length: 4 }, () => cluster.connect());
      const [store, ...others] = clients.map((client) => redisStore(client));
      return Promise.resolve({
        store: store!,
        others,
        now: Date.now,
        advance: async (ms) => {
          for (const admin of cluster.admins) await age(admin, ms);
        },
        close: async () => {
          for (const client of clients) client.disconnect();
        },
      });
    },
  });
});
