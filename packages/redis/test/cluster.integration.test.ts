import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { describeWithProgram, unique } from '@call-webhooks/contract-tests';
import { redisStore } from '../src/index.ts';
import { claim } from './claim.ts';
import { clusterOfTwo } from './cluster-of-two.ts';

describeWithProgram('redis-server', 'redisStore on a cluster of two nodes', () => {
  let nodes: Awaited<ReturnType<typeof clusterOfTwo>>;
  let client: ReturnType<typeof nodes.connect>;
  beforeAll(async () => {
    nodes = await clusterOfTwo();
    client = nodes.connect();
  });
  afterEach(async () => {
    for (const admin of nodes.admins) await admin.config('SET', 'maxmemory', '0');
  });
  afterAll(async () => {
    client.disconnect();
    await nodes.stop();
  });

  it.each([0, 1])('is ready only while node %i takes writes as well', async (node) => {
    const store = redisStore(client);
    await store.ping?.();
    await nodes.admins[node]!.config('SET', 'maxmemory', '1');
    await expect(store.ping?.()).rejects.toThrow('OOM');
    await nodes.admins[node]!.config('SET', 'maxmemory', '0');
    await store.ping?.();
  });

  it('runs one event of a group at a time, whichever nodes the group and its events are on', async () => {
    const store = redisStore(client);
    for (let at = 0; at < 20; at++) {
      const group = unique('group');
      const [one, two] = [claim(unique('event')), claim(unique('event'))];
      expect(await store.admit({ ...one, group })).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store.admit({ ...two, group })).toEqual({ status: 'group-busy' });
      expect(await store.extend(one.key, one.token, 60_000)).toBe(true);
      expect(await store.peek?.([one.key, two.key])).toEqual(['running', undefined]);
      const isDone = at % 2 === 0 ? store.complete : store.release;
      expect(await isDone(one.key, one.token)).toBe(true);
      expect(await store.admit({ ...two, group })).toEqual({ status: 'admitted', attempt: 1 });
      expect(await store.forget?.([one.key])).toBe(1);
    }
  });
});
