import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { sign } from '@call-webhooks/core';

// A process of its own: `load.ts <port> <secret> <connections> <seconds> <idle connections>`.
// It prints one line of JSON: how often each status was answered, and how many idle connections ended.

const [port, secret, connections, seconds, idle] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const until = Date.now() + Number(seconds) * 1000;
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
  while (Date.now() < until) await post();
}

/** Node ends connections that say nothing, after `headersTimeout` (60 s): then there is a new one. */
const idlers = new Set<Socket>();
function idler(): void {
  const socket = connect(Number(port), '127.0.0.1');
  idlers.add(socket);
  socket.on('error', () => count('idle connection refused'));
  socket.resume().on('close', () => {
    idlers.delete(socket);
    if (Date.now() >= until) return;
    idleEnded++;
    idler();
  });
}
let idleEnded = 0;
for (let at = 0; at < Number(idle); at++) idler();
await Promise.all(Array.from({ length: Number(connections) }, connection));
for (const idler of idlers) idler.destroy();
agent.destroy();
console.log(JSON.stringify({ statuses, idleEnded }));
