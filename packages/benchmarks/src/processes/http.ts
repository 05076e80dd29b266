// One HTTP contender in its own process: node http.js <name> <checkout>
import type { AddressInfo } from 'node:net';
import { listen, type HttpName } from '../contenders.ts';
import { counted } from '../http/shared.ts';
import { cpuMicros, type Ready, type Reply } from './messages.ts';

const [, , name, root] = process.argv as [string, string, HttpName, string];
const server = await listen(name, root);
if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
// Connections are idle during the turns of others.
server.keepAliveTimeout = 600_000;
server.headersTimeout = 0;

process.on('message', () => {
  process.send?.({ cpu: cpuMicros(), handled: counted.handled } satisfies Reply);
});
process.on('disconnect', () => process.exit());
process.send?.({ port: (server.address() as AddressInfo).port } satisfies Ready);
