// A receiver in Express with a Redis store and a BullMQ queue. Run as many as you like.
// Needs CALL_WEBHOOK_SECRET and REDIS_URL; listens on PORT, or on a free port.
import type { AddressInfo } from 'node:net';
import { callWebhooks } from '@call-webhooks/express';
import { bullmqQueue, redisStore } from '@call-webhooks/redis';
import { Queue } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import '../plain-errors.ts';

const url = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const redis = new Redis(url);
redis.on('error', (error) => console.error(`redis: ${error.message}`));
// Don't buffer jobs in memory while the server is down: respond 503, and the service retries.
const queue = new Queue('calls', { connection: { url, enableOfflineQueue: false } });
queue.on('error', (error) => console.error(`queue: ${error.message}`));

const hook = callWebhooks({
  secret: process.env['CALL_WEBHOOK_SECRET'],
  store: redisStore(redis),
  queue: bullmqQueue(queue),
  onOutcome: ({ status, outcome, eventName }) =>
    console.log(`${String(status)} ${outcome} ${eventName ?? ''}`),
});

const app = express();
app.all('/hook', hook);
app.get('/health', async (_request, response) => {
  const health = await hook.receiver.health();
  response.status(health.ok ? 200 : 503).json(health);
});

const server = app.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1', (error) => {
  if (error) throw error;
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${String(port)}`;
  console.log(`listening on ${origin}/hook`);
  process.send?.({ origin });
});

process.once('SIGTERM', () => void close());
process.once('SIGINT', () => void close());

async function close(): Promise<void> {
  await hook.receiver.close(); // new deliveries get 503
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeIdleConnections();
  });
  await queue.close();
  await redis.quit();
  console.log('closed');
  if (process.connected) process.disconnect();
}
