// A receiver in Express that runs its handlers, and one with a queue and a worker.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { memoryDeadLetters, memoryStore, type ErrorHook } from '@call-webhooks/core';
import { callWebhooks } from '@call-webhooks/express';
import { instrument } from '@call-webhooks/opentelemetry';
import { status } from '@call-webhooks/recovery';
import { createSqliteWorker, sqliteQueue } from '@call-webhooks/sqlite';
import { trace } from '@opentelemetry/api';
import express from 'express';
import Database from 'libsql';

/** Stands for an error tracker: it gets the original error, with its cause. */
const onError: ErrorHook = (error, { code, callId, attempt }) => {
  const { cause } = error as Error;
  const said = `${String(error)}, caused by ${String(cause)}`;
  console.log(`onError  ${said}  ${code} ${String(callId)} attempt ${String(attempt)}`);
};

/** @param secrets those of the simulated service, for both receivers */
export async function startReceivers(secrets: () => readonly string[]) {
  const db = new Database(':memory:');
  const queue = sqliteQueue(db);
  const deadLetters = memoryDeadLetters();
  const store = memoryStore();
  const telemetry = instrument({
    queues: { calls: () => queue.stats() },
    deadLetters: () => deadLetters.count(),
    status: () => status({ store }),
  });

  const handlers = {
    onError,
    around: telemetry.around,
    on: {
      'call:started': () => {
        trace.getTracer('crm').startSpan('INSERT calls').end(); // a child of the handler's span
      },
      'call:completed': async () => {
        await fetch('http://127.0.0.1:2/calls'); // the CRM is down
      },
    },
  };
  const hook = callWebhooks({ secret: secrets, store, ...handlers });
  const queued = callWebhooks({ secret: secrets, queue });
  const worker = createSqliteWorker(queue, {
    ...handlers,
    maxRuns: 3,
    backoff: { initialDelay: 10, maxDelay: 100 },
    deadLetter: (letter) => deadLetters.put(letter),
  });

  const server = express().all('/hook', hook).all('/queued', queued).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    /** Resolves once the worker has nothing to do. */
    async settled() {
      for (let open = 1; open > 0; await new Promise((resolve) => setTimeout(resolve, 50))) {
        const { waiting, delayed, running } = await queue.stats();
        open = waiting + delayed + running;
      }
    },
    async close() {
      for (const { receiver } of [hook, queued]) await receiver.close();
      server.close();
      server.closeIdleConnections();
      await worker.close();
      telemetry.close();
      db.close();
    },
  };
}
