import { afterAll, beforeAll } from '@jest/globals';
import {
  describeWith,
  redisServer,
  storeBattery,
  until,
  type RedisServer,
} from '@call-webhooks/testing';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { redisStore } from '../src/index.ts';
import { age } from './age.ts';

describeWith(
  'redis-server',
  'redisStore on a cluster, which refuses scripts over two slots',
  () => {
    let server: RedisServer;
    let admin: Redis;
    beforeAll(async () => {
      server = await redisServer({ cluster: true });
      await server.start();
      admin = new Redis(server.port, '127.0.0.1');
      await until(async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
    });
    afterAll(async () => {
      admin.disconnect();
      await server.stop();
    });
    const turn = (ms: number) => age(admin, ms);

    storeBattery({
      name: 'redisStore over a Cluster of ioredis',
      open() {
        const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
        const close = async () => {
          cluster.disconnect();
        };
        return Promise.resolve({ store: redisStore(cluster), now: Date.now, turn, close });
      },
    });

    storeBattery({
      name: 'redisStore over a cluster client of node-redis',
      async open() {
        const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${server.port}` }] });
        await cluster.connect();
        return {
          store: redisStore(cluster, { prefix: 'other' }),
          now: Date.now,
          turn,
          close: async () => {
            cluster.destroy();
          },
        };
      },
    });
  },
);
