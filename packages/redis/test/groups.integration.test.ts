import { beforeEach, expect, it } from '@jest/globals';
import { describeWithProgram, unique, waitFor } from '@call-webhooks/contract-tests';
import { Cluster, type Redis } from 'ioredis';
import { redisStore } from '../src/index.ts';
import { age } from './age.ts';
import { claim } from './claim.ts';
import { useRedis } from './use-redis.ts';

describeWithProgram('redis-server', 'groups of redisStore', () => {
  const test = useRedis();
  let redis: Redis;
  beforeEach(async () => {
    redis = test.admin;
    await redis.flushall();
  });

  it('makes one round trip a call', async () => {
    const store = redisStore(redis);
    const run = async () => {
      const one = { ...claim(unique('event')), group: unique('call') };
      expect((await store.admit(one)).status).toBe('admitted');
      expect(await store.extend(one.key, one.token, 60_000)).toBe(true);
      expect(await store.complete(one.key, one.token)).toBe(true);
      expect(await store.release(one.key, one.token)).toBe(false);
    };
    await run(); // teaches the server the scripts
    await redis.config('RESETSTAT');
    for (let i = 0; i < 5; i++) await run();
    const stats = await redis.info('commandstats');
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe('20');
    expect(stats).not.toContain('cmdstat_eval:');
  });

  it('refuses a claim on a full server, and still frees the group there', async () => {
    const store = redisStore(redis);
    const [one, two] = [claim('event'), claim('event-2')].map((each) => ({ ...each, group: 'g' }));
    await store.admit(one!);
    await redis.config('SET', 'maxmemory', '1');
    await expect(store.admit(two!)).rejects.toThrow('OOM');
    expect(await store.complete('event', one!.token)).toBe(true);
    await redis.config('SET', 'maxmemory', '0');
    expect(await store.admit(two!)).toEqual({ status: 'admitted', attempt: 1 });
  });

  it("keeps a group's lease no longer than its event's", async () => {
    const store = redisStore(redis, { prefix: 'p' });
    const one = { ...claim('event'), group: 'call' };
    const ends = async () => {
      const [, , ends] = String(await redis.get('p:{event}:event')).split(' ');
      const keyEnds = await redis.pexpiretime('p:{event}:event');
      return [keyEnds - Number(ends), await redis.pexpiretime('p:{call}:group')];
    };
    await store.admit(one);
    const [ofEvent, ofGroup] = await ends();
    // Redis 7.0 reads its clock for each command of a script, between which the machine may be busy.
    expect(Math.abs(ofGroup! - ofEvent!)).toBeLessThan(10_000);
    await store.extend('event', one.token, 90_000);
    const extended = await ends();
    expect(Math.abs(extended[1]! - extended[0]!)).toBeLessThan(10_000);
    expect(extended[1]).toBeGreaterThan(ofGroup! + 20_000);
    await store.complete('event', one.token);
    expect(await redis.get('p:{event}:event')).toBe(`done ${one.token}`);
    expect(await redis.exists('p:{call}:group')).toBe(0);
    // As after an eviction: it is not known who has the group.
    const two = { ...claim('event-2'), group: 'call' };
    await store.admit(two);
    await redis.del('p:{call}:group');
    expect(await store.extend('event-2', two.token, 60_000)).toBe(false);
  });
});

describeWithProgram('redis-server', 'groups of redisStore on a cluster', () => {
  const test = useRedis({ cluster: true });

  it('an end that arrives late does not free the group of the event that has it by then', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
      redisOptions: { socketTimeout: 60_000 },
    });
    const held: (() => void)[] = [];
    let isHolding = false;
    const late = (name: 'evalsha' | 'eval') => {
      const call = cluster[name].bind(cluster) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        if (isHolding && JSON.stringify(args).includes('freeGroup'))
          await new Promise<void>((resolve) => held.push(resolve));
        return call(...args);
      };
    };
    Object.assign(cluster, { evalsha: late('evalsha'), eval: late('eval') });
    const store = redisStore(cluster);
    const [first, second, third] = [1, 2, 3].map(() => ({ ...claim(unique('event')), group: 'g' }));
    expect(await store.admit(first!)).toMatchObject({ status: 'admitted' });
    isHolding = true;
    const completing = store.complete(first!.key, first!.token);
    await waitFor(() => held.length === 1);
    await age(test.admin, 120_000); // the lease of the group has run out
    expect(await store.admit(second!)).toMatchObject({ status: 'admitted' });
    isHolding = false;
    held[0]!();
    expect(await completing).toBe(true);
    expect(await store.admit(third!)).toEqual({ status: 'group-busy' });
    cluster.disconnect();
  });

  it('an event whose lease begins later than that of its group is alone in it until it ends', async () => {
    const cluster = new Cluster([{ host: '127.0.0.1', port: test.server.port }], {
      redisOptions: { socketTimeout: 60_000 },
    });
    const held: (() => void)[] = [];
    const late = (name: 'evalsha' | 'eval') => {
      const call = cluster[name].bind(cluster) as (...args: unknown[]) => Promise<unknown>;
      return async (...args: unknown[]) => {
        if (held.length === 0 && JSON.stringify(args).includes('"admit'))
          await new Promise<void>((resolve) => held.push(resolve));
        return call(...args);
      };
    };
    Object.assign(cluster, { evalsha: late('evalsha'), eval: late('eval') });
    const store = redisStore(cluster);
    const group = unique('group');
    const [first, second] = [1, 2].map(() => ({ ...claim(unique('event')), group }));
    const admitting = store.admit(first!);
    await waitFor(() => held.length === 1);
    await age(test.admin, 5_000); // the group has its lease by now
    held[0]!();
    expect(await admitting).toEqual({ status: 'admitted', attempt: 1 });
    await age(test.admin, 57_000);
    expect(await store.peek?.([first!.key])).toEqual(['running']);
    expect(await store.admit(second!)).toEqual({ status: 'group-busy' });
    cluster.disconnect();
  });
});
