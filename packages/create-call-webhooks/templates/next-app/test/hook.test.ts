import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callWebhooks } from '@call-webhooks/next';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  deliver,
  deliverTwice,
  forged,
  TEST_SECRET as secret,
} from '@call-webhooks/testing';
import { handlers } from '../src/handlers.ts';

//: if memory
const POST = callWebhooks({ secret, on: handlers });
//: end
//: if sqlite
// With a memory store, the default, in place of the file, so the tests start from nothing.
const POST = callWebhooks({ secret, on: handlers });
//: end
//: if postgres
// With a memory store, the default, in place of Postgres, so the tests need no server.
const POST = callWebhooks({ secret, on: handlers });
//: end
//: if redis
// With a memory store, the default, in place of Redis, so the tests need no server.
const POST = callWebhooks({ secret, on: handlers });
//: end

test('handles the events of a call', async () => {
  for (const event of [callStarted(), callCompleted(), callRecordingAvailable()]) {
    const { outcome } = await deliver(POST, event, { secret });
    assert.equal(outcome, 'handled', event.eventName);
  }
});

test('handles an event once', async () => {
  const [first, second] = await deliverTwice(POST, callCompleted(), { secret });
  assert.equal(first.outcome, 'handled');
  assert.equal(second.outcome, 'duplicate');
});

test('refuses a forged delivery', async () => {
  const { status } = await forged(POST, callCompleted());
  assert.equal(status, 401);
});
