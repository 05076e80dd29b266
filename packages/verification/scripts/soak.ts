import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generateSecret, memoryStore } from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';

// Many connections, slow and failing handlers. Checks that work stays bounded and memory flat, that
// no handle and no rejection is left over, and that the receiver closes cleanly. The load is a number
// of requests, and slow handlers wait for requests, so the result does not depend on the machine's
// speed. `npm run soak -w @call-webhooks/verification -- --requests 500000`

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '15000' },
    connections: { type: 'string', default: '1000' },
    idle: { type: 'string', default: '10000' },
  },
});
const MAX_IN_FLIGHT = 300;
const MAX_GROWTH_BYTES = 24e6;
const WARM_UP_REQUESTS = 5_000;
/** A slow handler waits until this many more requests have arrived, or twice or three times as many. */
const SLOW_FOR_REQUESTS = 300;
/** The last handlers of a load wait in vain for more requests; milliseconds. */
const SLOW_AT_MOST = 1_000;

const faults: string[] = [];
process.on('unhandledRejection', (reason) => faults.push(`unhandled rejection: ${String(reason)}`));

let [running, mostRunning, runs, arrived] = [0, 0, 0, 0];
const waiting = new Map<number, (() => void)[]>();

function requestArrived(): void {
  for (const resume of waiting.get(++arrived) ?? []) resume();
  waiting.delete(arrived);
}

async function waitForRequests(count: number): Promise<void> {
  const enough = new Promise<void>((resolve) => {
    const at = arrived + count;
    waiting.set(at, [...(waiting.get(at) ?? []), resolve]);
  });
  const done = new AbortController();
  const longEnough = pause(SLOW_AT_MOST, undefined, done).catch(() => undefined);
  await Promise.race([enough, longEnough]);
  done.abort();
}

const secret = generateSecret();
const handler = createNodeHandler({
  secret,
  maxInFlight: MAX_IN_FLIGHT,
  // Small enough to be full, and to evict entries, from the start.
  store: memoryStore({ maxEntries: 5_000, onEvicted: () => undefined }),
  logger: { warn: () => undefined, error: () => undefined },
  on: {
    'call:completed': async () => {
      mostRunning = Math.max(mostRunning, ++running);
      try {
        const kind = runs++ % 4;
        if (kind > 0) await waitForRequests(kind * SLOW_FOR_REQUESTS);
        if (kind === 2) throw new Error('the CRM is down');
      } finally {
        running--;
      }
    },
  },
});
const server = createServer((request, response) => {
  requestArrived();
  void handler(request, response);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 });
await once(server, 'listening');
const { port } = server.address() as AddressInfo;

interface LoadResult {
  statuses: Record<string, number>;
  idleEnded: number;
}

async function load(requests: string | number): Promise<LoadResult> {
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
      String(requests),
      values.idle,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (data: Buffer) => (output += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`the load ended with ${String(code)}`);
  return JSON.parse(output) as LoadResult;
}

const resources = (): string[] => process.getActiveResourcesInfo();
const socketsNow = () => resources().filter((name) => name === 'TCPSocketWrap').length;

async function atRest(): Promise<{ heap: number; sockets: number; handles: number }> {
  const deadline = performance.now() + 30_000;
  while ((socketsNow() > 0 || running > 0) && performance.now() < deadline) await pause(50);
  await pause(500);
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  return { heap: heapUsed, sockets: socketsNow(), handles: resources().length };
}

/** Samples memory and connections, prints about ten lines in a run, and keeps the maxima. */
function sample(requests: number) {
  const most = { rss: 0, sockets: 0 };
  const started = performance.now();
  const startedAt = arrived;
  let printed = 0;
  const timer = setInterval(() => {
    const { rss, heapUsed } = process.memoryUsage();
    most.rss = Math.max(most.rss, rss);
    most.sockets = Math.max(most.sockets, socketsNow());
    const done = arrived - startedAt;
    if (done - printed < requests / 10) return;
    printed = done;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    console.log(
      `${String(done)} requests, ${seconds} s: ${megabytes(rss)} resident, heap ${megabytes(heapUsed)}, ${String(socketsNow())} connections, ${String(running)} handlers, ${String(runs)} runs`,
    );
  }, 250);
  return { most, stop: () => clearInterval(timer) };
}

if (!globalThis.gc) throw new Error('Run it with node --expose-gc');
await load(WARM_UP_REQUESTS);
const before = await atRest();
const samples = sample(Number(values.requests));
const { statuses, idleEnded } = await load(values.requests);
samples.stop();
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
if (mostRunning > MAX_IN_FLIGHT) faults.push(`${String(mostRunning)} handlers ran concurrently`);
if (running > 0) faults.push(`${String(running)} handlers are still running`);
if (closedInMs > 3_000) faults.push(`close() took ${closedInMs.toFixed(0)} ms`);
const unexpected = Object.keys(statuses).filter(
  (status) => !['200', '500', '503'].includes(status),
);
if (unexpected.length > 0) faults.push(`unexpected: ${unexpected.join(', ')}`);
if (!statuses['503'] || !statuses['200'])
  faults.push('no request, or every request, got 503: the load shows nothing');

console.log(
  `responses ${JSON.stringify(statuses)}; ${String(mostRunning)} handlers at most; ${megabytes(samples.most.rss)} resident and ${String(samples.most.sockets)} connections at most, ${String(idleEnded)} idle ones ended by Node; heap at rest ${megabytes(before.heap)}, then ${megabytes(after.heap)}; closed in ${closedInMs.toFixed(0)} ms`,
);
for (const fault of faults) console.error(`FAULT  ${fault}`);
process.exitCode = faults.length === 0 ? 0 : 1;

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
