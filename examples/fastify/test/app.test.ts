import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateSecret } from '@call-webhooks/fastify';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  deliver,
  deliverTwice,
  forged,
} from '@call-webhooks/testing';
import { createApp } from '../app.ts';
import { handlers } from '../handlers.ts';
import { openStorage } from '../storage.ts';

const [calls, recordings] = [generateSecret(), generateSecret()];
const secret = [calls, recordings];
const storage = openStorage({ SQLITE_FILE: ':memory:' });
const { app } = createApp({ secret, storage, on: handlers, level: 'silent' });

test('handles calls and recordings, which have separate secrets', async () => {
  for (const event of [callStarted(), callCompleted()])
    assert.equal((await deliver(app, event, { secret: calls })).outcome, 'handled');
  const recording = await deliver(app, callRecordingAvailable(), { secret: recordings });
  assert.equal(recording.outcome, 'handled');
});

test('handles an event once', async () => {
  const [first, second] = await deliverTwice(app, callCompleted(), { secret: calls });
  assert.deepEqual([first.outcome, second.outcome], ['handled', 'duplicate']);
});

test('refuses a forged delivery', async () => {
  assert.equal((await forged(app, callCompleted())).status, 401);
});

test('keeps an event that fails each time, and acknowledges it', async () => {
  const fail = () => Promise.reject(new Error('The CRM is down'));
  const on = { 'call:completed': fail };
  const { app: failing } = createApp({ secret, storage, on, level: 'silent' });
  const event = callCompleted();
  const statuses: number[] = [];
  for (let attempt = 1; attempt <= 3; attempt++)
    statuses.push((await deliver(failing, event, { secret: calls })).status);
  assert.deepEqual(statuses, [500, 500, 200]);
  const { letters } = await storage.deadLetters.list();
  assert.deepEqual(
    letters.map(({ callId }) => callId),
    [event.callId],
  );
});

test('a mistyped path gets 503: a 404 would pause the rule', async () => {
  const { status } = await deliver(app, callCompleted(), { secret: calls, path: '/hoook' });
  assert.equal(status, 503);
});
