import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  collectingLogger,
  describeWithProgram,
  queuedCall,
  redisServer,
  runSample,
  tcpProxy,
  unique,
  waitFor,
  type RedisServer,
  type TcpProxy,
} from '@call-webhooks/contract-tests';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { bullmqQueue, createBullmqWorker, redisStore, type RedisClient } from '../src/index.ts';
import { claim } from './claim.ts';

const logger = collectingLogger();
/** The operating system would take a quarter of an hour. */
const WITHIN_MS = 40_000;

describeWithProgram('redis-server', 'a connection that a firewall dropped without a word', () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  beforeAll(async () => {
    server = await redisServer();
    await server.start();
    proxy = await tcpProxy(server.port);
  });
  afterAll(async () => {
    await proxy.close();
    await server.stop();
  });
  const settled = (call: Promise<unknown>) =>
    Promise.race([
      call.then(
        () => true,
        () => false,
      ),
      new Promise<boolean>((resolve) => setTimeout(resolve, 1_000, false)),
    ]);

  /** What a store does when its connection is dropped, while deliveries go on. */
  async function recovers(client: RedisClient) {
    const store = redisStore(client, { logger });
    const admit = () => settled(store.admit(claim(unique('event'))));
    expect(await admit()).toBe(true);
    proxy.drop();
    expect(await admit()).toBe(false);
    await waitFor(admit, { within: WITHIN_MS, every: 200 });
  }

  it('is replaced by ioredis with socketTimeout', async () => {
    const client = new Redis(proxy.port, '127.0.0.1', { socketTimeout: 2_000 });
    client.on('error', () => undefined);
    await recovers(client);
    client.disconnect();
  });

  it('is replaced by node-redis with the watch of the docs', async () => {
    const sample = runSample({
      test: import.meta.url,
      document: '../../../docs/stores.md',
      block: 2,
      replace: { '3_000': '1_000', '5_000': '2_000' },
      env: { REDIS_URL: `redis://127.0.0.1:${String(proxy.port)}` },
      then: `
        let wasLost = false;
        setInterval(async () => {
          const [webhookId, token, key] = [1, 2, 3].map(() => crypto.randomUUID());
          const claim = { webhookId, token, key, leaseMs: 1_000, replayUntil: Date.now() + 60_000 };
          const late = new Promise((resolve) => setTimeout(resolve, 800));
          const answer = await Promise.race([store.admit(claim).catch(() => undefined), late]);
          wasLost ||= !answer;
          console.log(answer ? (wasLost ? 'recovered' : 'admitted') : 'lost');
        }, 200);`,
    });
    await sample.printed('admitted');
    proxy.drop();
    await sample.printed('lost');
    await sample.printed('recovered');
    await sample.end();
  });

  it('is replaced by a queue and a worker of BullMQ with socketTimeout', async () => {
    const connection = { host: '127.0.0.1', port: proxy.port, socketTimeout: 12_000 };
    const name = unique('calls');
    const queue = new Queue(name, { connection: { ...connection, socketTimeout: 2_000 } });
    queue.on('error', () => undefined);
    const hand = bullmqQueue(queue, { logger });
    const ran: unknown[] = [];
    const worker = createBullmqWorker({
      Worker,
      queueName: name,
      connection,
      logger,
      on: { 'call:completed': ({ callId }) => void ran.push(callId) },
    });
    const runs = async () => {
      const callId = unique('call');
      await waitFor(() => settled(hand.enqueue(queuedCall(callId))), { within: WITHIN_MS });
      await waitFor(() => ran.includes(callId), { within: WITHIN_MS });
    };
    await runs();
    proxy.drop();
    await waitFor(async () => !(await worker.health()).ok);
    await runs();
    await waitFor(async () => (await worker.health()).ok, { within: WITHIN_MS });
    await worker.close();
    await queue.close();
  });

  it('is warned of at the start, once for each client of ioredis without socketTimeout', async () => {
    const lines = collectingLogger();
    const client = new Redis(server.port, '127.0.0.1');
    redisStore(client, { logger: lines });
    redisStore(client, { logger: lines });
    const isWarning = (line: string) => line.includes('has no socketTimeout');
    expect(lines.lines.filter(isWarning)).toHaveLength(1);
    client.disconnect();
    const safe = new Redis(server.port, '127.0.0.1', { socketTimeout: 5_000 });
    redisStore(safe, { logger: lines });
    const connection = { host: '127.0.0.1', port: server.port };
    const queue = new Queue(unique('calls'), { connection });
    bullmqQueue(queue, { logger: lines });
    expect(lines.lines.filter(isWarning)).toHaveLength(2);
    const impatient = { ...connection, socketTimeout: 3_000 };
    const worker = createBullmqWorker({
      ...{ Worker, queueName: queue.name, connection: impatient, logger: lines },
    });
    expect(lines.lines.join()).toContain('reconnects again and again. Set socketTimeout: 15000');
    await worker.close();
    await queue.close();
    safe.disconnect();
  });
});
