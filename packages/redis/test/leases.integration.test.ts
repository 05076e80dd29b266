import { beforeEach, expect, it } from '@jest/globals';
import { describeWithProgram } from '@call-webhooks/contract-tests';
import type { Redis } from 'ioredis';
import { redisStore } from '../src/index.ts';
import { age } from './age.ts';
import { claim } from './claim.ts';
import { useRedis } from './use-redis.ts';

describeWithProgram('redis-server', 'the leases of redisStore', () => {
  const test = useRedis();
  let redis: Redis;
  beforeEach(async () => {
    redis = test.admin;
    await redis.flushall();
  });

  it('are ended and extended on a full server, which admits nothing', async () => {
    const store = redisStore(redis);
    const [done, released, extended] = ['done', 'released', 'extended'].map((key) => claim(key));
    for (const one of [done!, released!, extended!]) await store.admit(one);
    await redis.config('SET', 'maxmemory', '1');
    expect(await store.complete('done', done!.token)).toBe(true);
    expect(await store.release('released', released!.token)).toBe(true);
    expect(await store.extend('extended', extended!.token, 90_000)).toBe(true);
    await expect(store.admit(claim('done'))).rejects.toThrow('OOM');
    await redis.config('SET', 'maxmemory', '0');
    expect(await store.admit(claim('done'))).toEqual({ status: 'duplicate' });
    expect(await store.admit(claim('released'))).toEqual({ status: 'admitted', attempt: 2 });
    await age(redis, 70_000); // longer than the lease was at first
    expect(await store.admit(claim('extended'))).toEqual({ status: 'in-progress' });
  });

  it('end in time for a receiver with another rememberFor', async () => {
    const [short, long] = [600_000, 86_400_000].map((rememberFor) =>
      redisStore(redis, { rememberFor }),
    );
    await short!.admit(claim('a'));
    await long!.admit(claim('b'));
    await age(redis, 59_000);
    expect(await long!.admit(claim('a'))).toEqual({ status: 'in-progress' });
    expect(await short!.admit(claim('b'))).toEqual({ status: 'in-progress' });
    await age(redis, 2_000);
    expect(await long!.admit(claim('a'))).toEqual({ status: 'admitted', attempt: 2 });
    expect(await short!.admit(claim('b'))).toEqual({ status: 'admitted', attempt: 2 });
  });
});
