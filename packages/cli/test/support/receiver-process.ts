// A receiver in a process of its own, on a store in a file. Each run of its handler is a line of stdout.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeHandler } from '@call-webhooks/core/node';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';

const [file = '', secret = ''] = process.argv.slice(2);
process.on('disconnect', () => process.exit());
const broken = new Set<string>();
process.on('message', (message: { broken: string[] }) => {
  broken.clear();
  for (const callId of message.broken) broken.add(callId);
  process.send?.({ kind: 'broken' });
});
const hook = createNodeHandler({
  secret,
  store: sqliteStore(new Database(file)),
  logger: { warn: () => undefined, error: () => undefined },
  leaseFor: 1_000,
  on: {
    'call:completed': async ({ callId }) => {
      if (broken.has(String(callId))) throw new Error('the CRM is down');
      await new Promise((resolve) => setTimeout(resolve, 3));
      process.send?.({ kind: 'run', callId });
    },
  },
});
const server = createServer((request, response) => void hook(request, response));
await once(server.listen(0, '127.0.0.1'), 'listening');
process.send?.({ kind: 'ready', port: (server.address() as AddressInfo).port });
