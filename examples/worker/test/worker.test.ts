import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { generateSecret } from '@call-webhooks/express';
import {
  callCompleted,
  callRecordingAvailable,
  deliver,
  deliverTwice,
} from '@call-webhooks/testing';
import { pino } from 'pino';
import { createApp } from '../app.ts';
import { openJobs } from '../jobs.ts';

const [calls, recordings] = [generateSecret(), generateSecret()];
const secret = [calls, recordings];
const logger = pino({ enabled: false });
const jobs = openJobs({ SQLITE_FILE: ':memory:' });
const { app } = createApp({ secret, jobs, logger });

const done: unknown[] = [];
const worker = jobs.startWorker({
  logger,
  on: {
    'call:completed': (event, { queued }) => void done.push([event.callId, queued]),
    'call:recording-available': (event, { queued }) => void done.push([event.callId, queued]),
  },
});
after(async () => {
  await worker.close();
  await jobs.close();
});

test(
  'queues calls and recordings, which have separate secrets, and a worker handles them once',
  { timeout: 20_000 },
  async () => {
    const call = callCompleted();
    const [first, second] = await deliverTwice(app, call, { secret: calls });
    assert.deepEqual([first.status, second.outcome], [202, 'duplicate']);
    const recording = callRecordingAvailable();
    assert.equal((await deliver(app, recording, { secret: recordings })).status, 202);
    while (done.length < 2) await delay(10);
    assert.deepEqual(done, [
      [call.callId, true],
      [recording.callId, true],
    ]);
  },
);

test('a mistyped path gets 503: a 404 would pause the rule', async () => {
  const { status } = await deliver(app, callCompleted(), { secret: calls, path: '/hoook' });
  assert.equal(status, 503);
});
