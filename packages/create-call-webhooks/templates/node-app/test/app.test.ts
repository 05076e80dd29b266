import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from '@call-webhooks/adapter';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  deliver,
  deliverTwice,
  forged,
  TEST_SECRET as secret,
} from '@call-webhooks/testing';
import { createApp } from '../src/app.ts';

//: if sqlite
// With a memory store in place of the file, so the tests start from nothing.
//: end
//: if postgres
// With a memory store in place of Postgres, so the tests need no server.
//: end
//: if redis
// With a memory store in place of Redis, so the tests need no server.
//: end
//: if fastify
const app = createApp({ secret, store: memoryStore() });
//: end
//: if express|hono|koa
const { app } = createApp({ secret, store: memoryStore() });
//: end

test('handles the events of a call', async () => {
  for (const event of [callStarted(), callCompleted(), callRecordingAvailable()]) {
    const { outcome } = await deliver(app, event, { secret });
    assert.equal(outcome, 'handled', event.eventName);
  }
});

test('handles an event once', async () => {
  const [first, second] = await deliverTwice(app, callCompleted(), { secret });
  assert.equal(first.outcome, 'handled');
  assert.equal(second.outcome, 'duplicate');
});

test('refuses a forged delivery', async () => {
  const { status } = await forged(app, callCompleted());
  assert.equal(status, 401);
});
