import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deadLetter,
  describeWithProgram,
  waitFor,
} from '@call-webhooks/contract-tests';
import { deadLettersContractTests } from '@call-webhooks/store-tests';
import { Cluster } from 'ioredis';
import { redisDeadLetters } from '../../src/index.ts';
import { age } from '../age.ts';
import { CLIENTS, type Connected } from './clients.ts';
import { refusals } from '../refusals.ts';
import { useRedis } from '../use-redis.ts';

const logger = collectingLogger();

describeWithProgram('redis-server', 'redisDeadLetters on a real server', () => {
  const test = useRedis();

  for (const [name, connect] of Object.entries(CLIENTS))
    deadLettersContractTests(runner, {
      name: `redisDeadLetters over ${name}`,
      async open() {
        await test.admin.flushall();
        const connections: Connected[] = [];
        for (let i = 0; i < 4; i++) connections.push(await connect(test.server.port));
        const [deadLetters, ...others] = connections.map(({ client }) =>
          redisDeadLetters(client, { logger }),
        );
        return {
          deadLetters: deadLetters!,
          others,
          advance: (ms) => age(test.admin, ms),
          refusals: refusals(() => test.admin),
          close: async () => {
            await Promise.all(connections.map(({ close }) => close()));
          },
        };
      },
    });

  it('lists more letters of one millisecond than it looks at in one call', async () => {
    await test.admin.flushall();
    const deadLetters = redisDeadLetters(test.admin, { logger });
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
    await test.admin.flushall();
    const deadLetters = redisDeadLetters(test.admin, { logger });
    await deadLetters.put(deadLetter());
    await deadLetters.put(deadLetter());
    for (const key of await test.admin.keys('*'))
      expect(key).toMatch(/^call-webhooks:\{dead-letters\}:./);
    for (const { id } of (await deadLetters.list()).letters) await deadLetters.remove(id);
    expect(await test.admin.keys('*')).toEqual([]);
  });

  it('warns if the server could lose letters', async () => {
    const warned = collectingLogger();
    await test.admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    redisDeadLetters(test.admin, { logger: warned });
    await waitFor(() => warned.lines.length > 0);
    await test.admin.config('SET', 'maxmemory-policy', 'noeviction');
    expect(warned.lines.join()).toContain(
      'drops keys when its memory is full, and has appendonly set to no',
    );
  });
});

describeWithProgram('redis-server', 'redisDeadLetters on a cluster', () => {
  const test = useRedis({ cluster: true, durable: true });

  deadLettersContractTests(runner, {
    name: 'redisDeadLetters over a Cluster of ioredis',
    without: ['refusals'], // run in the integration tests
    open() {
      const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }]);
      return Promise.resolve({
        deadLetters: redisDeadLetters(cluster, { logger }),
        advance: (ms) => age(test.admin, ms),
        close: async () => {
          cluster.disconnect();
        },
      });
    },
  });
});
