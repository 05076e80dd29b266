import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeHandler } from '@call-webhooks/core/node';
import { sqliteStore } from '@call-webhooks/sqlite';
import Database from 'libsql';
import { createEffects } from './effects.ts';

// Our receiver in a process of its own, which may run on changed sources. It prints its port.

const { PORT = '0', DATABASE, EFFECTS, CALL_WEBHOOK_SECRET = '' } = process.env;
const { handle, report } = createEffects(EFFECTS);
const quiet = () => undefined;
const handler = createNodeHandler({
  secret: CALL_WEBHOOK_SECRET.split(' '),
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
  logger: { warn: quiet, error: quiet },
  // The retry of an event has to wait for the lease of a process that is gone.
  ...(DATABASE !== undefined && { store: sqliteStore(new Database(DATABASE)), leaseFor: 5_000 }),
});
const server = createServer((request, response) => {
  if (request.url === '/effects') response.end(report());
  else void handler(request, response);
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`port ${String((server.address() as AddressInfo).port)}`);
});
