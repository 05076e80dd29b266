import { expect, it } from '@jest/globals';
import {
  collectingLogger,
  deadLetter,
  describeWithProgram,
  unique,
} from '@call-webhooks/contract-tests';
import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient, RESP_TYPES } from 'redis';
import { redisDeadLetters, redisStore, type RedisClient } from '../src/index.ts';
import { claim } from './claim.ts';
import { upstashBridge } from './own-packages/upstash-bridge.ts';
import { useRedis } from './use-redis.ts';

const logger = collectingLogger();

interface Connected {
  client: RedisClient;
  close(): unknown;
}

async function nodeRedis(port: number, options: object = {}) {
  const client = createClient({ socket: { host: '127.0.0.1', port }, ...options });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function upstash(port: number, options: object = {}): Promise<Connected> {
  const { url, close } = await upstashBridge(port);
  return { client: new Upstash({ url, token: 't', enableTelemetry: false, ...options }), close };
}

function ioredis(port: number, options: object): Promise<Connected> {
  const client = new Redis(port, '127.0.0.1', options);
  return Promise.resolve({ client, close: () => client.disconnect() });
}

/** Clients whose options give replies another form. */
const CLIENTS: Record<string, (port: number) => Promise<Connected>> = {
  'ioredis with stringNumbers': (port) => ioredis(port, { stringNumbers: true }),
  'ioredis with enableAutoPipelining': (port) => ioredis(port, { enableAutoPipelining: true }),
  async 'node-redis with RESP 3'(port) {
    const client = await nodeRedis(port, { RESP: 3 });
    return { client, close: () => client.destroy() };
  },
  async 'node-redis with bytes and texts for numbers'(port) {
    const client = await nodeRedis(port);
    const mapped = client.withTypeMapping({
      [RESP_TYPES.BLOB_STRING]: Buffer,
      [RESP_TYPES.SIMPLE_STRING]: Buffer,
      [RESP_TYPES.NUMBER]: String,
    });
    return { client: mapped as unknown as RedisClient, close: () => client.destroy() };
  },
  '@upstash/redis': (port) => upstash(port),
  '@upstash/redis without automaticDeserialization': (port) =>
    upstash(port, { automaticDeserialization: false }),
};

describeWithProgram('redis-server', 'redisStore and redisDeadLetters', () => {
  const test = useRedis();

  it.each(Object.keys(CLIENTS))('understand %s', async (name) => {
    const { client, close } = await CLIENTS[name]!(test.server.port);
    const store = redisStore(client, { logger });
    const first = { ...claim(unique('event')), group: unique('group') };
    const other = { ...claim(unique('event')), group: first.group };
    const [one, busy] = [await store.admit(first), await store.admit(other)];
    expect([one, busy]).toEqual([{ status: 'admitted', attempt: 1 }, { status: 'group-busy' }]);
    expect(await store.admit({ ...first, token: 'another' })).toEqual({ status: 'replayed' });
    expect(await store.extend(first.key, first.token, 50_000)).toBe(true);
    expect(await store.release(first.key, first.token)).toBe(true);
    expect(await store.release(first.key, first.token)).toBe(false);
    const second = claim(first.key);
    expect(await store.admit(second)).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store.complete(first.key, second.token)).toBe(true);
    expect(await store.admit(claim(first.key))).toEqual({ status: 'duplicate' });
    const cursor = unique('cursor');
    expect(await store.loadCursor!(cursor)).toBeUndefined();
    for (const text of ['{"next":1}', '5', 'null']) {
      await store.saveCursor!(cursor, text);
      expect(await store.loadCursor!(cursor)).toBe(text);
    }
    await store.ping!();

    const letters = redisDeadLetters(client, { logger, prefix: unique('prefix') });
    await letters.put(deadLetter());
    const [letter] = (await letters.list()).letters;
    expect(await letters.count()).toBe(1);
    const { id } = letter!;
    expect(await letters.get(id)).toMatchObject(letter!);
    expect(await letters.claim(id, { token: 'a', leaseMs: 60_000 })).toMatchObject({ id });
    expect(await letters.claim(id, { token: 'b', leaseMs: 60_000 })).toBeUndefined();
    expect(await letters.extend(id, 'a', 60_000)).toBe(true);
    expect(await letters.settle(id, 'b')).toBe(false);
    expect(await letters.settle(id, 'a')).toBe(true);
    expect(await letters.get(id)).toBeUndefined();
    await close();
  });
});
