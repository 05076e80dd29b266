const assert = require('node:assert/strict');
const { createReceiver, generateSecret, sign, WebhookError } = require('@call-webhooks/core');
const { createNodeHandler } = require('@call-webhooks/core/node');
const { createWebHandler } = require('@call-webhooks/core/web');
const express = require('@call-webhooks/express').callWebhooks;
const fastify = require('@call-webhooks/fastify').default;
const hono = require('@call-webhooks/adapters/hono').callWebhooks;
const koa = require('@call-webhooks/adapters/koa').callWebhooks;
const lambda = require('@call-webhooks/adapters/lambda').callWebhooks;
const { CallWebhooksModule } = require('@call-webhooks/nest');
const sveltekit = require('@call-webhooks/adapters/sveltekit').callWebhooks;
const next = require('@call-webhooks/next').callWebhooks;
const pages = require('@call-webhooks/next/pages').callWebhooks;
const { instrument } = require('@call-webhooks/opentelemetry');
const { createConsole } = require('@call-webhooks/console');
const { redrive, startReconciler } = require('@call-webhooks/recovery');
const { createVectors } = require('@call-webhooks/contract');
const event = require('@call-webhooks/contract/schemas/event.schema.json');
const { startSimulator, SimulatorError } = require('@call-webhooks/simulator');
const { bullmqQueue, redisStore } = require('@call-webhooks/redis');

const { mysqlStore } = require('@call-webhooks/mysql');
const { postgresStore } = require('@call-webhooks/postgres');
const { storeContractTests } = require('@call-webhooks/store-tests');
const { sqliteStore } = require('@call-webhooks/sqlite');

const secret = generateSecret();
const adapters = [express, hono, koa, lambda, next, pages, sveltekit];
for (const make of [createNodeHandler, createWebHandler, ...adapters])
  assert.equal(typeof make({ secret }), 'function');
assert.equal(typeof fastify, 'function');
assert.ok(CallWebhooksModule.forRoot({ path: '/hook', secret }).providers);
assert.throws(() => sqliteStore({}), WebhookError);
assert.throws(() => mysqlStore({}), WebhookError);
assert.throws(() => postgresStore({}, { schema: 'a-b' }), WebhookError);
for (const make of [bullmqQueue, redisStore]) assert.equal(typeof make, 'function');

assert.equal(typeof storeContractTests, 'function');
assert.equal(createVectors({ now: 0, seed: '' }).length, 8);
assert.equal(event.oneOf.length, 3);
instrument().close();
assert.throws(() => startReconciler({}), WebhookError);
assert.throws(() => createConsole({}), WebhookError);

async function main() {
  const body = new TextEncoder().encode('{"eventName":"call:completed","callId":"c1"}');
  const { outcome } = await createReceiver({ secret }).receive({
    headers: await sign({ secret, body }),
    body,
  });
  assert.equal(outcome.outcome, 'ignored');
  // `instanceof` works across the two copies of the package.
  const esm = await import('@call-webhooks/core');
  assert.throws(() => esm.createReceiver({ secret: '' }), WebhookError);
  await assert.rejects(redrive({ deadJobs: {} }), WebhookError);
  await assert.rejects(startSimulator({ maxAttempts: 0 }), SimulatorError);
  const simulator = await startSimulator({ clock: 'manual' });
  assert.match(await (await globalThis.fetch(simulator.url)).text(), /<!doctype html>/);
  await simulator.close();
  console.log('CJS: runs');
}
main();
