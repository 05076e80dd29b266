import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callBody, freePort, serveLocally, startSender } from '@call-webhooks/contract-tests';
import { generateSecret, memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { instrument } from '@call-webhooks/opentelemetry';
import { status } from '@call-webhooks/recovery';
import { createSqliteWorker, sqliteQueue } from '@call-webhooks/sqlite';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import Database from 'libsql';

/** How often the service tries a delivery here. */
const ATTEMPTS = 3;
const logger = { warn: () => undefined, error: () => undefined };

/** A receiver, one with a queue, and its worker, whose metrics a Prometheus can scrape. */
export async function observedReceivers() {
  const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-observed-'));
  const db = new Database(join(folder, 'calls.db'));
  const queue = sqliteQueue(db);
  const deadLetters = memoryDeadLetters();
  const port = await freePort();
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  const secret = generateSecret();
  const fail = () => Promise.reject(new Error('The CRM is down'));
  const handlers = { on: { 'call:started': () => undefined, 'call:completed': fail }, logger };

  const store = memoryStore();
  const direct = createNodeHandler({ secret, store, ...handlers });
  const queued = createNodeHandler({ secret, queue, logger });
  const worker = createSqliteWorker(queue, {
    ...handlers,
    maxRuns: 2,
    backoff: { initialDelay: 1, maxDelay: 1 },
    pollEvery: 20,
    deadLetter: (letter) => deadLetters.put(letter),
  });
  const telemetry = instrument({
    meterProvider,
    queues: { calls: () => worker.stats() },
    deadLetters: () => deadLetters.count(),
    status: () => status({ store }),
  });
  const servers = await Promise.all(
    [direct, queued].map((handler) =>
      serveLocally((request, response) => void handler(request, response)),
    ),
  );
  const senders = servers.map(({ origin }) => startSender(`${origin}/hook`, secret));
  let calls = 0;

  return {
    /** Where the exporter listens: `host:port`. */
    target: `127.0.0.1:${String(port)}`,
    /** Sends each event to both receivers, the one that fails as often as the service would. */
    async send(): Promise<void> {
      const callId = `call-${String(calls++)}`;
      const timestamp = Math.floor(Date.now() / 1_000) - 120;
      for (const sender of senders) {
        await sender.post(callBody(callId, 'call:started'), { timestamp });
        for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
          await sender.post(callBody(callId, 'call:completed'), { timestamp });
        await sender.post(callBody(callId, 'call:started'), { secret: generateSecret() });
      }
    },
    async close(): Promise<void> {
      telemetry.close();
      await worker.close();
      for (const { receiver } of [direct, queued]) await receiver.close();
      for (const server of servers) await server.close();
      await meterProvider.shutdown();
      db.close();
      rmSync(folder, { recursive: true });
    },
  };
}
