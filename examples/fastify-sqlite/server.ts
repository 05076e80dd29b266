// A receiver in Fastify with its queue and store in one SQLite file, and a worker in the same process.
import { createReceiver, generateSecret } from '@call-webhooks/core';
import callWebhooks from '@call-webhooks/fastify';
import { createSqliteWorker, sqliteQueue, sqliteStore } from '@call-webhooks/sqlite';
import fastify from 'fastify';
import Database from 'libsql';
import '../plain-errors.ts';

const { CALL_WEBHOOK_SECRET: secret = generateSecret(), CALLS_DB = 'calls.db' } = process.env;
if (process.env['CALL_WEBHOOK_SECRET'] === undefined)
  console.log(`CALL_WEBHOOK_SECRET is not set. Using a new one: ${secret}`);

const db = new Database(CALLS_DB);
const queue = sqliteQueue(db);
const receiver = createReceiver({ secret, store: sqliteStore(db), queue });

const worker = createSqliteWorker(queue, {
  backoff: { initialDelay: 1_000, maxDelay: 1_000 }, // by default the delay grows up to an hour
  on: {
    'call:completed': (event, { attempt }) => {
      if (process.env['CRM_DOWN'] !== undefined) throw new Error('The CRM is down');
      console.log(`call ${event.callId ?? '?'} is in the CRM (attempt ${String(attempt)})`);
    },
  },
});

const app = fastify({ logger: true });
app.register(callWebhooks({ path: '/hook', receiver }));
app.get('/health', async (_request, reply) => {
  const health = await receiver.health();
  return reply.code(health.ok ? 200 : 503).send({ ...health, jobs: await worker.stats() });
});

const origin = await app.listen({ port: Number(process.env['PORT'] ?? 0), host: '127.0.0.1' });
process.send?.({ url: `${origin}/hook` });

async function shutDown(): Promise<void> {
  await app.close(); // refuses new deliveries and completes the current ones
  await worker.close(); // completes the running jobs, or releases them
  db.close();
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void shutDown());
