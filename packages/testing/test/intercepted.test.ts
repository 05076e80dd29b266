import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startProgram } from '@call-webhooks/contract-tests';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** Delivers to an app of each kind, and prints what came back. */
const DELIVERIES = `
import express from 'express';
import fastify from 'fastify';
import Koa from 'koa';
import { Hono } from 'hono';
import { createServer } from 'node:http';
import { createNodeHandler } from '@call-webhooks/core/node';
import { createWebHandler } from '@call-webhooks/core/web';
import { callWebhooks as inFastify } from '@call-webhooks/fastify';
import { callWebhooks as inKoa } from '@call-webhooks/adapters/koa';
import { callCompleted, deliver, TEST_SECRET } from '@call-webhooks/testing';
const options = { secret: TEST_SECRET, on: { 'call:completed': () => undefined } };
const hook = createNodeHandler(options);
const web = createWebHandler(options);
const app = fastify().register(inFastify({ path: '/hook', ...options }));
const server = createServer((request, response) => void hook(request, response));
const targets = {
  express: express().all('/hook', hook),
  fastify: app,
  koa: new Koa().use(inKoa({ path: '/hook', ...options })),
  hono: new Hono().all('/hook', (c) => web(c.req.raw)),
  server,
};
for (const [name, target] of Object.entries(targets))
  console.log(name, (await deliver(target as never, callCompleted())).outcome);
`;

it('delivers where whatever reaches the network is intercepted, and lets the process end', async () => {
  const { ended } = startProgram(
    FOLDER,
    `
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
const intercepted = () => {
  throw new Error('it would have left the process');
};
for (const client of [http, https]) Object.assign(client, { request: intercepted, get: intercepted });
Object.assign(http, { ClientRequest: intercepted });
Object.assign(net, { connect: intercepted, createConnection: intercepted });
net.Socket.prototype.connect = intercepted;
globalThis.fetch = intercepted;
syncBuiltinESMExports();
${DELIVERIES}`.replace(/^(import .*\n)/gm, '$1'),
  );
  const outcomes = ['express', 'fastify', 'koa', 'hono', 'server'].map(
    (name) => `${name} handled\n`,
  );
  expect(await ended).toMatchObject({ code: 0, signal: null, output: outcomes.join('') });
});
