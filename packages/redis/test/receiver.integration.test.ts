import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { collectingLogger, describeWithProgram, unique } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { redisStore, type RedisClient } from '../src/index.ts';
import { clusterOfTwo } from './cluster-of-two.ts';
import { useRedis } from './use-redis.ts';

/** A receiver whose events have a new key in each delivery. */
function receiverOn(client: RedisClient) {
  const secret = generateSecret();
  const runs: unknown[] = [];
  const receiver = createReceiver({
    ...{ secret, store: redisStore(client), logger: collectingLogger() },
    custom: { key: () => unique('key'), handle: (payload) => void runs.push(payload) },
  });
  const webhookId = crypto.randomUUID();
  /** Delivers a body under one webhook id. */
  const deliver = async (lead: string) => {
    const body = Buffer.from(JSON.stringify({ lead }));
    const headers = await sign({ secret, body, webhookId });
    return (await receiver.receive({ headers, body })).outcome.outcome;
  };
  return { deliver, runs };
}

async function expectOneRun(client: RedisClient): Promise<void> {
  const { deliver, runs } = receiverOn(client);
  const racing = await Promise.all(Array.from({ length: 8 }, () => deliver('a')));
  expect(racing.sort()).toEqual(['handled', ...Array.from({ length: 7 }, () => 'replayed')]);
  for (const lead of ['a', 'b']) expect(await deliver(lead)).toBe('replayed');
  expect(runs).toEqual([{ lead: 'a' }]);
}

describeWithProgram(
  'redis-server',
  'a webhook id that was seen, though its event has a new key',
  () => {
    const test = useRedis();

    it('is refused as replayed on one server', () => expectOneRun(test.admin));
  },
);

describeWithProgram('redis-server', 'on a cluster of two nodes', () => {
  let cluster: Awaited<ReturnType<typeof clusterOfTwo>>;
  beforeAll(async () => {
    cluster = await clusterOfTwo();
  });
  afterAll(() => cluster.stop());

  it('a webhook id that was seen is refused as replayed, though its event has a new key', async () => {
    const client = cluster.connect();
    await expectOneRun(client);
    client.disconnect();
  });

  it.each<[string, () => Promise<[RedisClient, () => unknown]>]>([
    [
      'ioredis with enableAutoPipelining',
      async () => {
        const client = new Cluster(cluster.nodes, {
          enableAutoPipelining: true,
          redisOptions: { socketTimeout: 60_000 },
        });
        return [client, () => client.disconnect()];
      },
    ],
    [
      'node-redis',
      async () => {
        const rootNodes = cluster.nodes.map(({ host, port }) => ({ socket: { host, port } }));
        const client = createCluster({ rootNodes });
        await client.connect();
        return [client, () => client.destroy()];
      },
    ],
    [
      'a client behind which nobody would look for a cluster',
      async () => {
        const client = cluster.connect();
        const list =
          (call: 'evalsha' | 'eval') => (script: string, keys: string[], args: string[]) =>
            client[call](script, keys.length, ...keys, ...args);
        return [{ evalsha: list('evalsha'), eval: list('eval') }, () => client.disconnect()];
      },
    ],
  ])('deliveries that come at once are handled, each once, over %s', async (_name, connect) => {
    const [client, disconnect] = await connect();
    const secret = generateSecret();
    const runs: unknown[] = [];
    const receiver = createReceiver({
      ...{ secret, store: redisStore(client), oneAtATime: true, logger: collectingLogger() },
      on: { 'call:completed': ({ callId }) => void runs.push(callId) },
    });
    const calls = Array.from({ length: 30 }, () => unique('call'));
    const deliverAll = () =>
      Promise.all(
        calls.map(async (callId) => {
          const body = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
          const headers = await sign({ secret, body });
          return (await receiver.receive({ headers, body })).outcome.outcome;
        }),
      );
    expect(new Set(await deliverAll())).toEqual(new Set(['handled']));
    expect(new Set(await deliverAll())).toEqual(new Set(['duplicate']));
    expect(runs.sort()).toEqual(calls.sort());
    disconnect();
  });
});
