import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  deadLetter,
  deadLettersContractTests,
  describeWithProgram,
  redisServer,
  waitFor,
  type RedisServer,
} from '@call-webhooks/contract-tests';
import { Cluster, Redis } from 'ioredis';
import { redisDeadLetters } from '../src/index.ts';
import { age } from './age.ts';
import { CLIENTS, type Connected } from './clients.ts';

const logger = collectingLogger();

describeWithProgram('redis-server', 'redisDeadLetters on a real server', () => {
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
    deadLettersContractTests({
      name: `redisDeadLetters over ${name}`,
      async open() {
        await admin.flushall();
        const connections: Connected[] = [];
        for (let i = 0; i < 4; i++) connections.push(await connect(server.port));
        const [deadLetters, ...others] = connections.map(({ client }) =>
          redisDeadLetters(client, { logger }),
        );
        return {
          deadLetters: deadLetters!,
          others,
          advance: (ms) => age(admin, ms),
          close: async () => {
            await Promise.all(connections.map(({ close }) => close()));
          },
        };
      },
    });

  it('lists more letters of one millisecond than it looks at in one call', async () => {
    await admin.flushall();
    const deadLetters = redisDeadLetters(admin, { logger });
    for (let i = 0; i < 25; i++)
      await Promise.all(Array.from({ length: 100 }, () => deadLetters.put(deadLetter())));
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await deadLetters.list({ limit: 999, cursor });
      for (const { id } of page.letters) seen.add(id);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen.size).toBe(2_500);
    expect(await deadLetters.count()).toBe(2_500);
    expect(await deadLetters.count({ eventName: 'nothing' })).toBe(0);
  });

  it('leaves nothing behind of letters that were removed', async () => {
    await admin.flushall();
    const deadLetters = redisDeadLetters(admin, { logger });
    await deadLetters.put(deadLetter());
    await deadLetters.put(deadLetter());
    for (const { id } of (await deadLetters.list()).letters) await deadLetters.remove(id);
    expect(await admin.keys('*')).toEqual([]);
  });

  it('warns if the server could lose letters', async () => {
    const warned = collectingLogger();
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    redisDeadLetters(admin, { logger: warned });
    await waitFor(() => warned.lines.length > 0);
    await admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(warned.lines.join()).toContain(
      'drops any keys when its memory is full, and has appendonly no',
    );
  });
});

describeWithProgram('redis-server', 'redisDeadLetters on a cluster', () => {
  let server: RedisServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await redisServer({ cluster: true, durable: true });
    await server.start();
    admin = new Redis(server.port, '127.0.0.1');
    await waitFor(async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });

  deadLettersContractTests({
    name: 'redisDeadLetters over a Cluster of ioredis',
    open() {
      const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }]);
      return Promise.resolve({
        deadLetters: redisDeadLetters(cluster, { logger }),
        advance: (ms) => age(admin, ms),
        close: async () => {
          cluster.disconnect();
        },
      });
    },
  });
});
