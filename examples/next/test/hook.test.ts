import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateSecret } from '@call-webhooks/next';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  deliver,
  deliverTwice,
  forged,
} from '@call-webhooks/testing';

const [calls, recordings] = [generateSecret(), generateSecret()];
process.env.CALL_WEBHOOK_SECRET = calls;
process.env.RECORDING_WEBHOOK_SECRET = recordings;
process.env.SQLITE_FILE = ':memory:';
const { POST } = await import('../app/hook/route.ts');
const catchAll = await import('../app/[[...rest]]/route.ts');

test('handles calls and recordings, which have separate secrets', async () => {
  for (const event of [callStarted(), callCompleted()])
    assert.equal((await deliver(POST, event, { secret: calls })).outcome, 'handled');
  const recording = await deliver(POST, callRecordingAvailable(), { secret: recordings });
  assert.equal(recording.outcome, 'handled');
});

test('handles an event once', async () => {
  const [first, second] = await deliverTwice(POST, callCompleted(), { secret: calls });
  assert.deepEqual([first.outcome, second.outcome], ['handled', 'duplicate']);
});

test('refuses a forged delivery', async () => {
  assert.equal((await forged(POST, callCompleted())).status, 401);
});

test('a mistyped path gets 503: a 404 would pause the rule', () => {
  assert.equal(catchAll.POST().status, 503);
});
