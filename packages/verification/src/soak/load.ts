import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { sign } from '@call-webhooks/core';

// Runs in a process of its own: `load.ts <port> <secret> <connections> <requests> <idle connections>`.
// It prints one line of JSON: how many responses each status got, and how many idle connections ended.

const [port, secret, connections, requests, idle] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
let remaining = Number(requests);
const statuses: Record<string, number> = {};
const count = (what: string | number) => (statuses[what] = (statuses[what] ?? 0) + 1);

async function post(): Promise<void> {
  const body = JSON.stringify({ eventName: 'call:completed', callId: randomUUID() });
  const headers = await sign({ secret, body });
  await new Promise<void>((resolve) => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path: '/hook',
      method: 'POST',
      agent,
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
    });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      count(error.code ?? 'error');
      resolve();
    });
    outgoing.on('response', (response) => {
      count(response.statusCode ?? 0);
      response.resume().on('close', resolve);
    });
    outgoing.end(body);
  });
}

async function connection(): Promise<void> {
  while (remaining-- > 0) await post();
}

const idleSockets = new Set<Socket>();
let idleEnded = 0;

/** Node ends silent connections after `headersTimeout` (60 s); each is replaced by a new one. */
function openIdle(): void {
  const socket = connect(Number(port), '127.0.0.1');
  idleSockets.add(socket);
  socket.on('error', () => count('idle connection refused'));
  socket.resume().on('close', () => {
    idleSockets.delete(socket);
    if (remaining <= 0) return;
    idleEnded++;
    openIdle();
  });
}
for (let opened = 0; opened < Number(idle); opened++) openIdle();
await Promise.all(Array.from({ length: Number(connections) }, connection));
for (const socket of idleSockets) socket.destroy();
agent.destroy();
console.log(JSON.stringify({ statuses, idleEnded }));
