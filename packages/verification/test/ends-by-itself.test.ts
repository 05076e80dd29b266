import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { endsByItself } from '@call-webhooks/contract-tests';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** A receiver with all that has timers: a secret provider, a store with a log, a lease, dead letters that expire. */
const OPTIONS = `
import { memoryDeadLetters, memoryStore, sign } from '@call-webhooks/core';
import { TEST_SECRET } from '@call-webhooks/testing';
let go: () => void = () => undefined;
const entered = new Promise<void>((resolve) => (go = resolve));
const options = {
  secret: () => TEST_SECRET,
  store: memoryStore(),
  deadLetter: memoryDeadLetters({ keepFor: 86_400_000 }),
  leaseFor: 1_000,
  logger: { warn: () => undefined, error: () => undefined },
  on: {
    'call:started': () => undefined,
    'call:completed': () => { go(); return new Promise<void>(() => undefined); },
  },
};
const post = async (url: string, eventName: string) => {
  const body = JSON.stringify({ eventName, callId: 'c1' });
  const headers = { 'content-type': 'application/json', ...(await sign({ secret: TEST_SECRET, body })) };
  const response = await fetch(url, { method: 'POST', headers, body });
  return ((await response.json()) as { outcome: string }).outcome;
};
/** One delivery is handled; another one hangs while the app closes. */
async function use(url: string, close: () => unknown) {
  console.log(await post(url, 'call:started'));
  const hanging = post(url, 'call:completed');
  await entered;
  await Promise.all([close(), hanging.then(console.log)]);
  console.log('closed');
}
const portOf = (server: { address(): unknown }) => (server.address() as { port: number }).port;
const listening = async (server: import('node:http').Server) => {
  await new Promise((resolve) => server.once('listening', resolve));
  return 'http://127.0.0.1:' + portOf(server) + '/hook';
};
const closeServer = (server: import('node:http').Server) =>
  new Promise((resolve) => server.close(resolve));
`;
/** For frameworks whose receiver and server are closed one after the other. */
const ON_SERVER = `
await use(await listening(server), async () => {
  await hook.receiver.close({ graceMs: 50 });
  await closeServer(server);
});`;

const RECEIVERS: Record<string, string> = {
  Express: `
import express from 'express';
import { callWebhooks } from '@call-webhooks/express';
const hook = callWebhooks(options);
const server = express().all('/hook', hook).listen(0, '127.0.0.1');
${ON_SERVER}`,
  Koa: `
import Koa from 'koa';
import { callWebhooks } from '@call-webhooks/adapters/koa';
const hook = callWebhooks({ path: '/hook', ...options });
const server = new Koa().use(hook).listen(0, '127.0.0.1');
${ON_SERVER}`,
  Hono: `
import { Hono } from 'hono';
import { createAdaptorServer } from '@hono/node-server';
import type { Server } from 'node:http';
import { callWebhooks } from '@call-webhooks/adapters/hono';
const hook = callWebhooks({ path: '/hook', ...options });
const server = createAdaptorServer({ fetch: new Hono().use(hook).fetch }) as Server;
server.listen(0, '127.0.0.1');
${ON_SERVER}`,
  'node:http': `
import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
const hook = createNodeHandler(options);
const server = createServer((request, response) => void hook(request, response));
server.listen(0, '127.0.0.1');
${ON_SERVER}`,
  Fastify: `
import fastify from 'fastify';
import { callWebhooks } from '@call-webhooks/fastify';
const app = fastify();
await app.register(callWebhooks({ path: '/hook', graceMs: 50, ...options }));
const origin = await app.listen({ port: 0, host: '127.0.0.1' });
await use(origin + '/hook', () => app.close());`,
  Nest: `
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { CallWebhooksModule, OnCallEvent } from '@call-webhooks/nest';
const { on, ...rest } = options;
class Handlers {}
for (const [name, handle] of Object.entries(on)) {
  const descriptor = { value: handle, writable: true, configurable: true };
  Object.defineProperty(Handlers.prototype, name, descriptor);
  OnCallEvent(name as 'call:started')(Handlers.prototype, name, descriptor);
}
class App {}
const imported = CallWebhooksModule.forRoot({ path: '/hook', graceMs: 50, ...rest });
const module = { module: App, imports: [imported], providers: [Handlers] };
const app = await NestFactory.create(module, { logger: false, abortOnError: false });
await app.listen(0, '127.0.0.1');
await use((await app.getUrl()) + '/hook', () => app.close());`,
};

const ends = (program: string) => endsByItself(FOLDER, program);

it.each(Object.entries(RECEIVERS))(
  'a process with a receiver in %s ends by itself once it is closed, although a handler hangs',
  async (_name, program) => {
    expect(await ends(OPTIONS + program)).toBe('handled\nshutting-down\nclosed\n');
  },
);

it('a process with a receiver alone ends by itself once it is closed', async () => {
  const program = `${OPTIONS}
import { createReceiver } from '@call-webhooks/core';
const receiver = createReceiver(options);
const { outcome } = await receiver.deliver({ eventName: 'call:started', callId: 'c1' });
console.log(outcome);
await receiver.health();
void receiver.deliver({ eventName: 'call:completed', callId: 'c2' });
await entered;
await receiver.close({ graceMs: 50 });
console.log('closed');`;
  expect(await ends(program)).toBe('handled\nclosed\n');
});

it('a process with a worker whose queue never answers ends by itself once it is closed', async () => {
  const program = `
import { startPollingWorker } from '@call-webhooks/core/stores';
const take = () => new Promise<never>(() => undefined);
const worker = startPollingWorker({ take, concurrency: 1, pollEvery: 100, onError: console.error });
await worker.close({ graceMs: 50 });
console.log('closed');`;
  expect(await ends(program)).toBe('closed\n');
});

it('a process with a client and a simulator ends by itself once the simulator is closed', async () => {
  const program = `
import { createClient } from '@call-webhooks/client';
import { startSimulator } from '@call-webhooks/simulator';
const simulator = await startSimulator({ seed: 1 });
const { url: baseUrl, apiToken } = simulator;
const client = createClient({ baseUrl, apiToken });
const { results } = await client.calls.list({});
console.log(results.length);
await simulator.close();
console.log('closed');`;
  expect(await ends(program)).toBe('0\nclosed\n');
});
