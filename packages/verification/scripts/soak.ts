import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generateSecret, memoryStore } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';

// Slow and failing handlers under many connections: bounded work, flat memory, no handle and no
// rejection left over, a clean close. `npm run soak -w @call-webhooks/verification -- --seconds 180`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '1000' },
    idle: { type: 'string', default: '10000' },
  },
});
const MAX_IN_FLIGHT = 300;
const MAX_GROWTH_BYTES = 24e6;

const faults: string[] = [];
process.on('unhandledRejection', (reason) => faults.push(`unhandled rejection: ${String(reason)}`));

let [running, mostRunning, runs] = [0, 0, 0];
const secret = generateSecret();
const handler = createNodeHandler({
  secret,
  maxInFlight: MAX_IN_FLIGHT,
  // Small enough to be full, and turning over, from the first seconds on.
  store: memoryStore({ maxEntries: 5_000, onEvicted: () => undefined }),
  logger: { warn: () => undefined, error: () => undefined },
  on: {
    'call:completed': async () => {
      mostRunning = Math.max(mostRunning, ++running);
      try {
        const kind = runs++ % 4;
        if (kind > 0) await pause(kind * 60);
        if (kind === 2) throw new Error('the CRM is down');
      } finally {
        running--;
      }
    },
  },
});
const server = createServer((request, response) => void handler(request, response));
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

interface Seen {
  statuses: Record<string, number>;
  idleEnded: number;
}

async function load(seconds: string): Promise<Seen> {
  const script = fileURLToPath(new URL('../src/soak/load.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--import',
      'tsx',
      '--conditions=@call-webhooks/source',
      script,
      String(port),
      secret,
      values.connections,
      seconds,
      values.idle,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the load ended with ${String(code)}`);
  return JSON.parse(output) as Seen;
}

const resources = (): string[] => process.getActiveResourcesInfo();
const socketsNow = () => resources().filter((name) => name === 'TCPSocketWrap').length;

async function atRest(): Promise<{ heap: number; sockets: number; handles: number }> {
  await pause(500);
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  return { heap: heapUsed, sockets: socketsNow(), handles: resources().length };
}

/** Says how things stand about eight times in a run, and remembers the most. */
function watch(seconds: number) {
  const most = { rss: 0, sockets: 0 };
  const begun = performance.now();
  const timer = setInterval(
    () => {
      const { rss, heapUsed } = process.memoryUsage();
      most.rss = Math.max(most.rss, rss);
      most.sockets = Math.max(most.sockets, socketsNow());
      const at = ((performance.now() - begun) / 1000).toFixed(0);
      console.log(
        `${at} s: ${megabytes(rss)} resident, heap ${megabytes(heapUsed)}, ${String(socketsNow())} connections, ${String(running)} handlers, ${String(runs)} runs`,
      );
    },
    Math.max(1_000, (seconds * 1000) / 8),
  );
  return { most, stop: () => clearInterval(timer) };
}

if (!globalThis.gc) throw new Error('Run it with node --expose-gc');
await load('2');
const before = await atRest();
const watched = watch(Number(values.seconds));
const { statuses, idleEnded } = await load(values.seconds);
watched.stop();
const after = await atRest();

const closing = performance.now();
server.close();
server.closeIdleConnections();
await handler.receiver.close({ graceMs: 2_000 });
const closedInMs = performance.now() - closing;

const growth = after.heap - before.heap;
if (growth > MAX_GROWTH_BYTES) faults.push(`the heap grew by ${megabytes(growth)}`);
if (after.handles > before.handles)
  faults.push(
    `${String(after.handles - before.handles)} handles are left: ${resources().join(', ')}`,
  );
if (after.sockets > 0) faults.push(`${String(after.sockets)} sockets are left`);
if (mostRunning > MAX_IN_FLIGHT) faults.push(`${String(mostRunning)} handlers ran at once`);
if (running > 0) faults.push(`${String(running)} handlers still run`);
if (closedInMs > 3_000) faults.push(`close() took ${closedInMs.toFixed(0)} ms`);
const unlawful = Object.keys(statuses).filter((status) => !['200', '500', '503'].includes(status));
if (unlawful.length > 0) faults.push(`answered ${unlawful.join(', ')}`);
if (!statuses['503'] || !statuses['200']) faults.push('the load was too small to show anything');

console.log(
  `answers ${JSON.stringify(statuses)}; ${String(mostRunning)} handlers at most; ${megabytes(watched.most.rss)} resident and ${String(watched.most.sockets)} connections at most, ${String(idleEnded)} idle ones ended by Node; heap at rest ${megabytes(before.heap)}, then ${megabytes(after.heap)}; closed in ${closedInMs.toFixed(0)} ms`,
);
for (const fault of faults) console.error(`FAULT  ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
