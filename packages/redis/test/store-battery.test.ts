import { afterAll, beforeAll } from '@jest/globals';
import { describeWith, redisServer, storeBattery, type RedisServer } from '@call-webhooks/testing';
import { Redis } from 'ioredis';
import { redisStore } from '../src/index.ts';
import { age } from './age.ts';
import { CLIENTS, type Connected } from './clients.ts';

describeWith('redis-server', 'redisStore on a real server', () => {
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
    storeBattery({
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
          turn: (ms) => age(admin, ms),
          close: async () => {
            await Promise.all(connections.map(({ close }) => close()));
          },
        };
      },
    });
});
