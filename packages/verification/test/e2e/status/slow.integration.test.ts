import { expect, test } from '@jest/globals';
import {
  callBody,
  redisServer,
  startSender,
  tcpProxy,
  waitFor,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { status } from '@call-webhooks/recovery';
import { redisStore } from '@call-webhooks/redis';
import { Redis } from 'ioredis';
import { testResources } from '../test-resources.ts';
import { startMachine } from './start-machine.ts';

const own = testResources();

test('a slow Redis and a slow handler of version 2 are told apart', async () => {
  const redis = await redisServer();
  own.add({ close: () => redis.stop() });
  await redis.start();
  const proxy = own.add(await tcpProxy(redis.port));
  const client = new Redis({ port: redis.port, socketTimeout: 5_000 });
  own.add({ close: () => client.disconnect() });
  const secret = generateSecret();

  /** Sends five deliveries, and waits for what the status says. */
  async function slowOf(prefix: string, version: string, slowness: number, storeDelay: number) {
    const input = { redisPort: proxy.port, prefix, secret, version, slowness };
    const port = await startMachine(own, 'redis-machine.ts', input);
    const sender = startSender(`http://127.0.0.1:${String(port)}/hook`, secret);
    const store = redisStore(client, { prefix });
    await sender.post(callBody('first'));
    await waitFor(async () => (await status({ store })).events.length > 0);
    expect((await status({ store })).attention).toEqual([]);
    proxy.delay(storeDelay);
    for (let sent = 0; sent < 5; sent++)
      expect((await sender.post(callBody(`${prefix}${String(sent)}`))).status).toBe(200);
    proxy.delay(0);
    await waitFor(async () => (await status({ store })).attention.length > 0);
    const { attention } = await status({ store });
    expect(attention).toMatchObject([{ kind: 'slow', urgent: false, eventName: 'call:completed' }]);
    const found =
      /whole delivery ([\d.]+ m?s), handler ([\d.]+ m?s), store ([\d.]+ m?s)\.$/.exec(
        attention[0]?.text ?? '',
      ) ?? [];
    const [delivery, handler, storeMs] = found.slice(1).map(milliseconds);
    const processes = await store.log?.processes();
    const { since = 0, text } = attention[0] ?? {};
    return { delivery, handler, storeMs, since, text, processes };
  }

  const slowStore = await slowOf('a', '1', 5, 600);
  expect(slowStore.storeMs).toBeGreaterThanOrEqual(1_200);
  expect(slowStore.handler).toBeLessThan(slowStore.storeMs ?? 0);
  expect(slowStore.delivery).toBeGreaterThanOrEqual(1_200);

  const slowHandler = await slowOf('b', '2', 1_300, 0);
  expect(slowHandler.handler).toBeGreaterThanOrEqual(1_300);
  expect(slowHandler.storeMs).toBeLessThan(slowHandler.handler ?? 0);
  // Which version that was, and since when.
  const [process] = slowHandler.processes ?? [];
  expect(process).toMatchObject({ version: '2', ackWithin: 2_000 });
  expect(process?.startedAt).toBeLessThanOrEqual(slowHandler.since);
}, 120_000);

const milliseconds = (text: string): number =>
  text.endsWith(' ms') ? Number(text.slice(0, -3)) : Number(text.slice(0, -2)) * 1_000;
