import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generateSecret } from '@call-webhooks/express';
import { postgresDeadLetters, postgresStore } from '@call-webhooks/postgres';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  deliver,
  deliverTwice,
} from '@call-webhooks/testing';
import { PGlite } from '@electric-sql/pglite';
import { pino } from 'pino';
import { createApp } from '../app.ts';

const secret = generateSecret();
const logger = pino({ enabled: false });
// The console would ask the service for calls; these tests never do.
const notAsked = () => Promise.reject(new Error('not asked here'));
const client = {
  baseUrl: 'https://service.example',
  calls: { list: notAsked, recording: notAsked },
};

// A Postgres inside the test's process. The transactions of handlers.ts need a pool, and so a server.
const db = await PGlite.create();
const store = postgresStore(db);
const storage = { store, deadLetters: postgresDeadLetters(db) };

before(() => store.migrate());
after(() => db.close());

const appWith = (on: Parameters<typeof createApp>[0]['on']) =>
  createApp({ secret, storage, on, logger, client, consolePassword: 'a-password-for-tests' }).app;

test('handles each event of a call once', async () => {
  const seen: (string | undefined)[] = [];
  const handle = ({ eventName }: { eventName?: string }) => void seen.push(eventName);
  const app = appWith({
    'call:started': handle,
    'call:completed': handle,
    'call:recording-available': handle,
  });
  for (const event of [callRecordingAvailable(), callCompleted(), callStarted()]) {
    const [first, second] = await deliverTwice(app, event, { secret });
    assert.deepEqual([first.outcome, second.outcome], ['handled', 'duplicate']);
  }
  assert.deepEqual(seen, ['call:recording-available', 'call:completed', 'call:started']);
});

test('keeps an event that fails each time, and acknowledges it', async () => {
  const app = appWith({ 'call:completed': () => Promise.reject(new Error('The CRM is down')) });
  const event = callCompleted();
  const statuses: number[] = [];
  for (let attempt = 1; attempt <= 3; attempt++)
    statuses.push((await deliver(app, event, { secret })).status);
  assert.deepEqual(statuses, [500, 500, 200]);
  assert.equal(await storage.deadLetters.count(), 1);
});

test('a mistyped path gets 503: a 404 would pause the rule', async () => {
  const app = appWith({ 'call:completed': () => undefined });
  assert.equal((await deliver(app, callCompleted(), { secret, path: '/hoook' })).status, 503);
});
