// One HTTP contender in a process of its own: node http-process.js <name>
import type { AddressInfo } from 'node:net';
import { HTTP, type HttpName } from '../contenders.ts';
import { counted } from '../http/answer.ts';
import { cpuMicros, type Ready, type Reply } from './protocol.ts';

const { load } = HTTP[process.argv[2] as HttpName];
const server = await (await load()).listen();
if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
// Connections idle while others have their turn.
server.keepAliveTimeout = 600_000;
server.headersTimeout = 0;

process.on('message', () => {
  process.send?.({ cpu: cpuMicros(), handled: counted.handled } satisfies Reply);
});
process.on('disconnect', () => process.exit());
process.send?.({ port: (server.address() as AddressInfo).port } satisfies Ready);
