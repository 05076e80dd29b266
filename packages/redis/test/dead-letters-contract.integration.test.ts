import * as runner from '@jest/globals';
import { expect, it } from '@jest/globals';
import { collectingLogger, deadLetter, describeWithProgram } from '@call-webhooks/contract-tests';
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

  it('leaves no key of a letter that was removed, settled or has expired', async () => {
    await test.admin.flushall();
    const client = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    const letters = redisDeadLetters(client, { logger: collectingLogger() });
    const lease = { token: 't', leaseMs: 60_000 };
    const put = async (key: string) => {
      await letters.put(deadLetter({ key, failedAt: new Date(1_769_860_800_000) }));
      return (await letters.list()).letters[0]!.id;
    };
    const ways: Record<string, (id: string) => Promise<unknown>> = {
      removed: (id) => letters.remove(id),
      'removed while it is claimed': async (id) => {
        await letters.claim(id, lease);
        return letters.remove(id);
      },
      settled: async (id) => {
        await letters.claim(id, lease);
        await letters.giveBack(id, 't', {
          at: new Date(),
          source: 'redrive',
          attempt: 4,
          error: 'no',
        });
        await letters.claim(id, lease);
        return letters.settle(id, 't');
      },
      expired: async () => {
        const turn = { before: new Date(), limit: 10, ...lease };
        return (await letters.removeExpired!(turn)) === 1;
      },
    };
    for (const [name, end] of Object.entries(ways)) {
      expect([name, await end(await put(name))]).toEqual([name, true]);
      const turn = name === 'expired' ? ['call-webhooks:{dead-letters}:removal'] : [];
      expect([name, await test.admin.keys('*')]).toEqual([name, turn]);
    }
    client.disconnect();
  });

  it('lists each of 2,500 letters once that failed in the same millisecond, in whole pages', async () => {
    await test.admin.flushall();
    const client = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
    const letters = redisDeadLetters(client, { logger: collectingLogger() });
    const failedAt = new Date(1_769_860_800_000);
    const put = Array.from({ length: 2_500 }, async (_, index) =>
      letters.put(
        deadLetter({
          ...{ failedAt, key: `k${String(index)}` },
          eventName: index % 5 === 0 ? 'call:started' : 'call:completed',
        }),
      ),
    );
    await Promise.all(put);
    async function pagesOf(query: { eventName?: string }) {
      const ids: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await letters.list({ ...query, limit: 300, cursor });
        ids.push(page.letters.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(new Set(ids.flat()).size).toBe(ids.flat().length);
      return ids.map(({ length }) => length);
    }
    expect(await pagesOf({})).toEqual([...Array<number>(8).fill(300), 100]);
    expect(await letters.count()).toBe(2_500);
    // A page of those goes on from one thousand letters to the next.
    expect(await pagesOf({ eventName: 'call:started' })).toEqual([300, 200]);
    expect(await letters.count({ eventName: 'call:started' })).toBe(500);
    client.disconnect();
  });

  it.each(['fails again', 'is claimed by a redrive'])(
    'keeps an expired letter that %s between the two scripts that remove expired ones',
    async (what) => {
      await test.admin.flushall();
      const logger = collectingLogger();
      const others = redisDeadLetters(test.admin, { logger });
      const failedAt = new Date(1_769_860_800_000);
      const letter = deadLetter({ key: 'stays', failedAt });
      for (const one of [letter, deadLetter({ key: 'goes', failedAt })]) await others.put(one);
      const { letters } = await others.list();
      const { id } = letters.find(({ key }) => key === 'stays')!;
      const client = new Redis(test.server.port, '127.0.0.1', { socketTimeout: 60_000 });
      const run = client.evalsha.bind(client) as (...args: unknown[]) => Promise<unknown>;
      let isBetween = false;
      client.evalsha = async (...args: unknown[]) => {
        const reply = await run(...args);
        if (isBetween || !args.some((arg) => String(arg).endsWith(':removal'))) return reply;
        isBetween = true;
        if (what === 'fails again') await others.put({ ...letter, failedAt: new Date() });
        else await others.claim(id, { token: 'redrive', leaseMs: 60_000 });
        return reply;
      };
      // The server knows the scripts.
      const nothing = { before: new Date(0), limit: 10, token: 'one', leaseMs: 60_000 };
      await others.removeExpired!(nothing);
      const turn = { before: new Date(), limit: 10, token: 'one', leaseMs: 60_000 };
      const removed = await redisDeadLetters(client, { logger }).removeExpired!(turn);
      client.disconnect();
      expect(removed).toBe(1);
      expect(isBetween).toBe(true);
      expect((await others.list()).letters.map(({ key }) => key)).toEqual(['stays']);
      expect((await others.get(id))!.rawBody.length).toBeGreaterThan(0);
    },
  );
});
