import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNodeHandler } from '@call-webhooks/core/node';
import { createEffects } from './effects.ts';

// Our receiver in a process of its own, which may run on changed sources. It prints its port.

const { handle, report } = createEffects();
const quiet = () => undefined;
const handler = createNodeHandler({
  secret: (process.env['CALL_WEBHOOK_SECRET'] ?? '').split(' '),
  on: { 'call:started': handle, 'call:completed': handle, 'call:recording-available': handle },
  logger: { warn: quiet, error: quiet },
});
const server = createServer((request, response) => {
  if (request.url === '/effects') response.end(report());
  else void handler(request, response);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`port ${String((server.address() as AddressInfo).port)}`);
});
