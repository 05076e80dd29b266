import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { startProgram } from '@call-webhooks/contract-tests';
import { closeLater } from './support.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** A console that has refused a request, read its lists, and begun a redrive whose handler hangs. */
const APP = `
import { createReceiver, memoryDeadLetters } from '@call-webhooks/core';
import { createConsole } from '@call-webhooks/console';
const deadLetters = memoryDeadLetters();
const receiver = createReceiver({
  secret: 'whsec_dGVzdHMtb25seS1uZXZlci1pbi1wcm9kdWN0aW9u',
  on: { 'call:completed': () => new Promise(() => undefined) },
});
const rawBody = Buffer.from('{"eventName":"call:completed","callId":"c1"}');
await deadLetters.put({
  reason: 'handler-failed', attempt: 1, source: 'webhook', error: '', errorText: '',
  rawBody, webhookId: 'w1', timestamp: new Date(), failedAt: new Date(),
});
const authorize = ({ headers }) => headers.get('x-user') === 'ada';
const opened = createConsole({ receiver, deadLetters, authorize, path: '/ops' });
const ask = (path, init = {}) => opened.fetch(new Request('https://ops.test/ops' + path, init));
const headers = {
  'x-user': 'ada', 'content-type': 'application/json',
  origin: 'https://ops.test', 'sec-fetch-site': 'same-origin',
};
await ask('/');
for (const path of ['/api/overview', '/api/dead-letters', '/api/deliveries', '/api/tasks'])
  console.log((await ask(path, { headers })).status);
`;

/** A timer that is left ends the process with 3 at once. */
const END = `
if (process.getActiveResourcesInfo().includes('Timeout')) process.exit(3);
console.log('done');`;

it.each([
  ['a console that is not closed, and runs nothing', ''],
  [
    'a console that is closed while a handler of its redrive hangs',
    `console.log((await ask('/api/redrive', { method: 'POST', headers, body: '{"all":true}' })).status);
     await Promise.all([opened.close(), receiver.close({ graceMs: 0 })]);`,
  ],
])('%s lets its process end by itself, with 0', async (_what, code) => {
  const started = startProgram(FOLDER, `${APP}${code}${END}`);
  closeLater(() => started.child.kill('SIGKILL'));
  const ended = await started.ended;
  expect(ended.output).toContain('200\n200\n200\n200\n');
  expect(ended.output).toContain('done');
  expect(ended).toMatchObject({ code: 0, signal: null });
});
