import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from '@jest/globals';
import { startProgram, type OwnProcess } from '@call-webhooks/contract-tests';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const running: OwnProcess[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL');
    await ended;
  }
});

/** A receiver with a dead letter, and the list of a service that has no calls. */
const APP = `
import { createReceiver, memoryDeadLetters } from '@call-webhooks/core';
import { reconcile, redrive, startReconciler } from '@call-webhooks/recovery';
const deadLetters = memoryDeadLetters();
const receiver = createReceiver({
  secret: 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u',
  on: { 'call:completed': () => undefined },
});
const rawBody = Buffer.from('{"eventName":"call:completed","callId":"c1"}');
await deadLetters.put({
  reason: 'handler-failed', attempt: 1, source: 'webhook', error: '', errorText: '',
  rawBody, webhookId: 'w1', timestamp: new Date(), failedAt: new Date(),
});
const client = {
  baseUrl: 'https://service.test',
  calls: { list: async () => ({ results: [], hasNext: false, raw: {} }) },
};
const since = new Date(Date.now() - 20 * 60_000);
`;

it.each([
  ['a redrive', 'console.log(await redrive({ receiver, deadLetters }));', 'handled: 1'],
  [
    'a redrive whose store failed for a moment',
    `let failures = 1;
     const claim = (...given) =>
       failures-- > 0 ? Promise.reject(new Error('down')) : deadLetters.claim(...given);
     console.log(await redrive({ receiver, deadLetters: { ...deadLetters, claim } }));`,
    'handled: 1',
  ],
  [
    'a redrive that was stopped in a pause',
    `const stop = new AbortController();
     const claim = () => Promise.reject(new Error('down'));
     const onRetry = ({ failures }) => failures === 2 && stop.abort();
     await redrive({ receiver, deadLetters: { ...deadLetters, claim }, signal: stop.signal, onRetry })
       .catch((error) => console.log(error.message));`,
    'down',
  ],
  [
    'a reconcile',
    `const store = { rememberFor: 86_400_000 };
     console.log(await reconcile({ client, receiver, store, since }));`,
    'seen: 0',
  ],
  [
    'a reconciler that was closed',
    `const reconciler = startReconciler({ client, receiver, onRun: () => undefined });
     await new Promise((resolve) => setImmediate(resolve));
     await reconciler.close();
     console.log('closed');`,
    'closed',
  ],
])('%s lets its process end by itself, with 0', async (_what, code, output) => {
  const started = startProgram(FOLDER, APP + code);
  running.push(started);
  const ended = await started.ended;
  expect(ended.output).toContain(output);
  expect(ended).toMatchObject({ code: 0, signal: null });
});
