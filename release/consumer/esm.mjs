import assert from 'node:assert/strict';
import {
  createReceiver,
  generateSecret,
  memoryDeadLetters,
  sign,
  verify,
  WebhookError,
} from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { createWebHandler } from '@call-webhooks/core/web';
import { callWebhooks as express } from '@call-webhooks/express';
import fastify from '@call-webhooks/fastify';
import { callWebhooks as hono } from '@call-webhooks/adapters/hono';
import { callWebhooks as koa } from '@call-webhooks/adapters/koa';
import { cloudflareQueue, durableObjectStore } from '@call-webhooks/cloudflare';
import { callWebhooks as lambda } from '@call-webhooks/adapters/lambda';
import { CallWebhooksModule } from '@call-webhooks/nest';
import { callWebhooks as sveltekit } from '@call-webhooks/adapters/sveltekit';
import { callWebhooks as next } from '@call-webhooks/next';
import { callWebhooks as pages } from '@call-webhooks/next/pages';
import { mysqlDeadLetters, mysqlStore } from '@call-webhooks/mysql';
import { migrationSql, postgresStore } from '@call-webhooks/postgres';
import { bullmqQueue, redisStore } from '@call-webhooks/redis';
import { instrument } from '@call-webhooks/opentelemetry';
import { createClient } from '@call-webhooks/client';
import { basicAuth, createConsole } from '@call-webhooks/console';
import { reconcile, redrive } from '@call-webhooks/recovery';
import { startSimulator } from '@call-webhooks/simulator';
import { createVectors } from '@call-webhooks/contract';
import signatures from '@call-webhooks/contract/vectors/signature.json' with { type: 'json' };
import openapi from '@call-webhooks/contract/openapi.json' with { type: 'json' };
import { storeContractTests } from '@call-webhooks/store-tests';
import { sqliteStore } from '@call-webhooks/sqlite';

const simulator = await startSimulator({ clock: 'manual' });
await assert.rejects(startSimulator({ port: -1 }), { code: 'invalid-input' });
assert.match(await (await globalThis.fetch(simulator.url)).text(), /<!doctype html>/);
simulator.calls.start();
assert.equal(
  (await (await globalThis.fetch(`${simulator.url}/_sim/state`)).json()).counts.calls,
  1,
);
// The call has not ended, so nothing of it was missed.
const receiver = createReceiver({ secret: generateSecret(), deadLetter: memoryDeadLetters() });
const client = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
const since = new Date(Date.now() - 1);
assert.equal((await reconcile({ client, receiver, since, until: new Date() })).missed, 0);
const redriven = await redrive({ receiver, deadLetters: memoryDeadLetters() });
assert.equal(redriven.handled + redriven.failed, 0);
const authorize = basicAuth({ ada: 'sixteen characters' });
const opsConsole = createConsole({ receiver, authorize: () => true, path: '/ops' });
const page = await opsConsole.fetch(new globalThis.Request('http://localhost/ops'));
assert.match(await page.text(), /<!doctype html>/);
assert.deepEqual(Object.keys(authorize({ headers: new globalThis.Headers() })), ['challenge']);
await opsConsole.close();
await simulator.close();

const secret = generateSecret();
const body = new TextEncoder().encode('{"eventName":"call:completed","callId":"c1"}');
const headers = await sign({ secret, body });
assert.match((await verify({ headers, body }, { secret })).secretId, /^secret-[0-9a-f]{8}$/);
const { outcome } = await createReceiver({ secret }).receive({ headers, body });
assert.equal(outcome.outcome, 'ignored');
const adapters = [express, hono, koa, lambda, next, pages, sveltekit];
for (const make of [createNodeHandler, createWebHandler, ...adapters])
  assert.equal(typeof make({ secret }), 'function');
assert.equal(typeof fastify, 'function');
assert.ok(CallWebhooksModule.forRoot({ path: '/hook', secret }).providers);
for (const make of [bullmqQueue, redisStore]) assert.equal(typeof make, 'function');
assert.throws(() => express({ secret: '' }), WebhookError);
assert.match(migrationSql({ schema: 'calls' }), /CREATE SCHEMA calls/);
assert.equal(typeof postgresStore({ query: () => Promise.resolve([]) }).admit, 'function');
assert.throws(() => sqliteStore({}), WebhookError);
for (const make of [mysqlDeadLetters, mysqlStore]) assert.throws(() => make({}), WebhookError);
for (const make of [cloudflareQueue, durableObjectStore])
  assert.throws(() => make(undefined), WebhookError);
const [made] = createVectors({ now: 1_800_000_000_000, seed: 'call-webhooks' });
assert.deepEqual(made.vectors, signatures.vectors);
assert.ok(openapi.webhooks['call:completed']);
instrument().close();
const registered = [];
const test = (name) => registered.push(name);
const describe = (_name, define) => define();
storeContractTests(
  { describe, test, afterEach: test, before: test, after: test },
  { name: 'a store', open: () => Promise.reject(new Error('not called')) },
);
assert.ok(registered.length > 40);
console.log('ESM: runs');
