import { afterAll, beforeAll } from '@jest/globals';
import {
  describeWithProgram,
  redisServer,
  storeContractTests,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { redisStore } from '../src/index.ts';
import { age } from './age.ts';
import { clusterOfTwo } from './cluster-of-two.ts';
import { CLIENTS, type Connected } from './clients.ts';

describeWithProgram('redis-server', 'redisStore on a real server', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
    admin = new Redis(server.port, '127.0.0.1');
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  for (const [name, connect] of Object.entries(CLIENTS))
    storeContractTests({
      name: `redisStore over ${name}`,
      async open() {
        await admin.flushall();
        await admin.script('FLUSH');
        const connections: Connected[] = [];
        for (let i = 0; i < 4; i++) connections.push(await connect(server.port));
        const [store, ...others] = connections.map(({ client }) => redisStore(client));
        return {
          store: store!,
          others,
          now: Date.now,
          advance: (ms) => age(admin, ms),
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
    let server: RedisServer;
    let admin: Redis;
    beforeAll(async () => {
      server = await redisServer({ cluster: true });
      await server.start();
      admin = new Redis(server.port, '127.0.0.1');
      await waitFor(async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
    });
    afterAll(async () => {
      admin.disconnect();
      await server.stop();
    });
    const advance = (ms: number) => age(admin, ms);

    storeContractTests({
      name: 'redisStore over a Cluster of ioredis',
      open() {
        const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
        const close = async () => {
          cluster.disconnect();
        };
        return Promise.resolve({ store: redisStore(cluster), now: Date.now, advance, close });
      },
    });

    storeContractTests({
      name: 'redisStore over a cluster client of node-redis',
      async open() {
        const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }] });
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
  },
);

describeWithProgram('redis-server', 'redisStore on a cluster of two nodes', () => {
  let cluster: Awaited<ReturnType<typeof clusterOfTwo>>;
  beforeAll(async () => {
    cluster = await clusterOfTwo();
  });
  afterAll(() => cluster.stop());

  storeContractTests({
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
