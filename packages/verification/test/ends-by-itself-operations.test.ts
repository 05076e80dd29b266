import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { endsByItself } from '@call-webhooks/contract-tests';

// What operators run, and receivers without a server, in a process of its own each: once it has returned or is closed,
// nothing keeps the process alive.

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** A receiver with one dead letter, whose handler succeeds now. */
const RECEIVER = `
import { createReceiver, memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import { generateSecret, sign } from '@call-webhooks/core';
const nothing = () => undefined;
const logger = { warn: nothing, error: nothing, info: nothing };
const secret = generateSecret();
let works = false;
const store = memoryStore();
const deadLetters = memoryDeadLetters({ keepFor: 86_400_000 });
const receiver = createReceiver({
  secret,
  store,
  deadLetter: deadLetters,
  maxAttempts: 1,
  logger,
  on: { 'call:completed': () => { if (!works) throw new Error('the CRM is down'); } },
});
await receiver.deliver({ eventName: 'call:completed', callId: 'c1' });
works = true;
`;

/** One request, as Lambda hands it over. */
const LAMBDA = `
import { callWebhooks, generateSecret, memoryStore, sign } from '@call-webhooks/adapters/lambda';
const nothing = () => undefined;
const secret = generateSecret();
const invoke = async (handler, remainingMs) => {
  const body = JSON.stringify({ eventName: 'call:completed', callId: 'c1' });
  const headers = { 'content-type': 'application/json', ...(await sign({ secret, body })) };
  const event = {
    version: '2.0', rawPath: '/hooks/acme', rawQueryString: '', headers, body, isBase64Encoded: false,
    requestContext: { http: { method: 'POST', path: '/hooks/acme' } },
  };
  const { statusCode } = await handler(event, { getRemainingTimeInMillis: () => remainingMs });
  console.log(statusCode);
};
`;

const PROGRAMS: Record<string, [program: string, printed: string]> = {
  'a redrive': [
    `${RECEIVER}
import { redrive } from '@call-webhooks/recovery';
const { handled } = await redrive({ deadLetters, receiver });
console.log(handled);
await receiver.close();`,
    '1\n',
  ],
  'a redrive that is aborted': [
    `${RECEIVER}
import { redrive } from '@call-webhooks/recovery';
const stopped = new AbortController();
const failing = { ...deadLetters, list: () => Promise.reject(new Error('down')) };
const onRetry = () => stopped.abort(new Error('stopped'));
await redrive({ deadLetters: failing, receiver, signal: stopped.signal, onRetry }).catch(
  (error: Error) => console.log(error.message),
);
await receiver.close();`,
    'down\n',
  ],
  'a reconciler that is closed': [
    `${RECEIVER}
import { startReconciler } from '@call-webhooks/recovery';
const client = { calls: { all: nothing } } as never;
const reconciler = startReconciler({ client, receiver, every: 60_000, logger });
await reconciler.close({ graceMs: 50 });
await receiver.close();
console.log('closed');`,
    'closed\n',
  ],
  'a status': [
    `${RECEIVER}
import { status } from '@call-webhooks/recovery';
const { attention } = await status({ store });
console.log(Array.isArray(attention));
await receiver.close();`,
    'true\n',
  ],
  'a console that is closed': [
    `${RECEIVER}
import { createServer } from 'node:http';
import { createConsole } from '@call-webhooks/console';
const page = createConsole({ receiver, deadLetters, authorize: () => ({ name: 'ada' }), logger });
const server = createServer((request, response) => void page(request, response));
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as { port: number };
const { status } = await fetch('http://127.0.0.1:' + port + '/', { headers: { connection: 'close' } });
console.log(status);
await page.close();
await new Promise((resolve) => server.close(resolve));
await receiver.close();`,
    '200\n',
  ],
  'instruments that are closed': [
    `${RECEIVER}
import { instrument } from '@call-webhooks/opentelemetry';
const telemetry = instrument({ queues: { calls: () => Promise.resolve({ waiting: 1 }) } });
await receiver.deliver({ eventName: 'call:completed', callId: 'c2' });
telemetry.close();
await receiver.close();
console.log('closed');`,
    'closed\n',
  ],
  'a Lambda function that has answered': [
    `${LAMBDA}
const on = { 'call:completed': nothing };
await invoke(callWebhooks({ secret, store: memoryStore(), on }), 3_600_000);`,
    '200\n',
  ],
  'a Lambda function whose handler ended after the deadline': [
    `${LAMBDA}
let end = nothing;
const on = { 'call:completed': () => new Promise<void>((resolve) => (end = resolve as never)) };
const logger = { warn: nothing, error: nothing };
const handler = callWebhooks({ secret, store: memoryStore(), ackWithin: 50, logger, on });
setTimeout(() => end(), 100);
await invoke(handler, 3_600_000);`,
    '503\n',
  ],
  'secrets of tenants': [
    `${LAMBDA}
const handler = callWebhooks({
  tenant: ({ path }) => path.split('/')[2],
  secret: () => Promise.resolve(secret),
  store: memoryStore(),
  on: { 'call:completed': nothing },
});
await invoke(handler, 3_600_000);`,
    '200\n',
  ],
};

it.each(Object.entries(PROGRAMS))(
  'a process with %s ends by itself',
  async (_name, [program, printed]) => {
    expect(await endsByItself(FOLDER, program)).toBe(printed);
  },
);
