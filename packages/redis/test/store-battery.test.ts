import { afterAll, beforeAll } from '@jest/globals';
import { describeWith, redisServer, storeBattery, type RedisServer } from '@call-webhooks/testing';
import { Redis } from 'ioredis';
import { redisStore } from '../src/index.ts';
import { CLIENTS, type Connected } from './clients.ts';

/** As if the time had passed: all that the store keeps of times are times to live. */
const AGE = `
for _, key in ipairs(redis.call('KEYS', '*')) do
  local left = redis.call('PTTL', key)
  if left >= 0 then redis.call('PEXPIRE', key, left - ARGV[1]) end
end`;

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
          turn: async (ms) => {
            await admin.eval(AGE, 0, ms);
          },
          close: async () => {
            await Promise.all(connections.map(({ close }) => close()));
          },
        };
      },
    });
});
