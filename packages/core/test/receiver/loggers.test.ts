import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { createReceiver, type Logger, type Receiver } from '../../src/index.ts';
import { createNodeHandler } from '../../src/node.ts';
import { send, serve, stopServers } from '../node-support.ts';
import { createTestReceiver, deferred, delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';

type Logged = (first: unknown, ...rest: unknown[]) => void;

/** What winston and Powertools make of a line: the first argument is the message. */
function messageFirst(methods: object) {
  const lines: { level: string; message: string; meta: unknown }[] = [];
  const method =
    (level: string): Logged =>
    (first, meta) =>
      lines.push({ level, message: String(first), meta });
  const [debug, info, warn, error] = ['debug', 'info', 'warn', 'error'].map(method);
  return { lines, logger: { ...methods, debug, info, warn, error } as unknown as Logger };
}
const LOGGERS: [string, object][] = [
  ['winston', { log: () => undefined, child: () => undefined, transports: [] }],
  ["Nest's", { log: () => undefined }],
  ['Powertools', { appendKeys: () => undefined, createChild: () => undefined }],
];

async function failedDelivery(logger: Logger, log?: Logger) {
  const receiver = createReceiver({
    secret: SECRET,
    now: () => NOW,
    logger,
    on: {
      'call:started': (_event, { log: own }) => {
        own.info({ rows: 3 }, 'saved');
        own.warn('not linked');
        // As the logger itself would be called.
        (own.warn as Logged)('no owner', { rows: 4 });
        throw new Error('the CRM is down');
      },
    },
  });
  const { headers, body } = await delivery(STARTED);
  await receiver.receive({ headers, body: Buffer.from(body), log });
}

it.each(LOGGERS)('a logger of the kind of %s gets the message first', async (_name, methods) => {
  const { lines, logger } = messageFirst(methods);
  await failedDelivery(logger);
  expect(lines).toMatchObject([
    { level: 'info', message: 'saved', meta: { rows: 3 } },
    { level: 'warn', message: 'not linked', meta: {} },
    { level: 'warn', message: 'no owner', meta: { rows: 4 } },
    {
      level: 'error',
      message: expect.stringContaining('500 handler-failed: The handler failed') as unknown,
      // As JSON, an error would be {}.
      meta: { outcome: 'handler-failed', err: { name: 'Error', message: 'the CRM is down' } },
    },
  ]);
});

it.each(LOGGERS)('so does one that is passed with a request: %s', async (_name, methods) => {
  const { lines, logger } = messageFirst(methods);
  await failedDelivery(new Lines(), logger);
  expect(lines.at(-1)?.message).toContain('500 handler-failed');
});

it('a logger that takes the fields for a message has the sentence all the same', async () => {
  const { lines, logger } = messageFirst({});
  await failedDelivery(logger);
  expect(lines.at(-1)?.message).toContain('500 handler-failed: The handler failed');
  expect(lines.at(-1)?.message).toContain('callId=call-1');
});

it('the lines of pino have their fields and no more', async () => {
  let text = '';
  const stream = new PassThrough().on('data', (piece: Buffer) => (text += piece.toString()));
  await failedDelivery(pino({ base: null, timestamp: false }, stream));
  await finished(stream.end());
  const lines = text.trim().split('\n');
  const { msg, ...fields } = JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>;
  expect(msg).toContain('500 handler-failed');
  expect(Object.keys(fields)).not.toContain('toString');
  expect(fields).toMatchObject({ level: 50, callId: 'call-1', err: { type: 'Error' } });
});

const ADOPTED: [string, object, boolean][] = [
  ['a logger of pino', pino({ level: 'silent' }).child({ reqId: 7 }), true],
  ...LOGGERS.map(([name, methods]): [string, object, boolean] => [name, methods, true]),
  ['one of which nobody knows what it takes', {}, false],
  ['a function', () => undefined, false],
];

it.each(ADOPTED)('req.log: %s', async (_name, methods, isAdopted) => {
  const { lines, logger } = messageFirst({});
  const log = Object.assign(Object.create(methods) as object, logger);
  const own = new Lines();
  const hook = createNodeHandler({ secret: SECRET, logger: own, now: () => NOW });
  const port = await serve((req, res) => void hook(Object.assign(req, { log }), res));
  await send(port, { method: 'POST' });
  await stopServers();
  expect([lines.length, own.all.length]).toEqual(isAdopted ? [1, 0] : [0, 1]);
});

it('a logger that throws when it is looked at fails the attempt, and frees the event', async () => {
  const hostile = new Proxy({} as Logger, {
    get() {
      throw new Error('no logger in this scope');
    },
  });
  const on = { 'call:started': () => undefined };
  const receiver = createReceiver({ secret: SECRET, now: () => NOW, logger: new Lines(), on });
  const { outcome } = await receiver.receive({ ...(await delivery(STARTED)), log: hostile });
  expect(outcome.outcome).toBe('handler-failed');
  const retried = await receiver.receive(await delivery(STARTED));
  expect(retried.outcome).toMatchObject({ outcome: 'handled', attempt: 2 });
});

const full = () => {
  throw new Error('The disk is full.');
};

it.each<[string, object]>([
  ['throws', { info: full }],
  ['rejects', { info: async () => full() }],
  ['is frozen', {}],
])('a logger that %s does not fail the handler that uses it', async (_how, methods) => {
  const logger = Object.freeze({ warn: () => undefined, error: () => undefined, ...methods });
  const receiver = createReceiver({
    secret: SECRET,
    now: () => NOW,
    logger,
    on: { 'call:started': (_event, { log }) => log.info({ rows: 3 }, 'saved') },
  });
  const { outcome } = await receiver.receive(await delivery(STARTED));
  expect(outcome.outcome).toBe('handled');
});

/** Runs an event with a logger of its own. */
const WITH_LOGGER: [string, (receiver: Receiver, log: Logger) => Promise<unknown>][] = [
  ['receive()', async (receiver, log) => receiver.receive({ ...(await delivery(STARTED)), log })],
  ['deliver()', (receiver, log) => receiver.deliver(STARTED, { log })],
];

it.each(WITH_LOGGER)('the logger that %s is called with gets all lines', async (_name, run) => {
  const [own, given] = [new Lines(), new Lines()];
  const receiver = createReceiver({
    ...{ secret: SECRET, now: () => NOW, logger: own },
    on: {
      'call:started': (_event, { log }) => {
        log.warn({ rows: 3 }, 'from the handler');
        throw new Error('no');
      },
    },
  });
  await run(receiver, given);
  expect(own.all).toEqual([]);
  expect(given.entries.map(({ message }) => message)).toEqual([
    'from the handler',
    'call-webhooks: 500 handler-failed: The handler failed: Error: no',
  ]);
});

it('the logger of a request also gets the lines after its response', async () => {
  const [own, given] = [new Lines(), new Lines()];
  const [begun, go, ended] = [deferred(), deferred(), deferred()];
  const receiver = createReceiver({
    ...{ secret: SECRET, now: () => NOW, logger: own, ackWithin: 1 },
    on: {
      'call:started': async (_event, { log }) => {
        begun.resolve();
        await go.promise;
        log.warn('from the handler');
      },
    },
    onOutcome: ({ late }) => {
      if (late) ended.resolve();
    },
    waitUntil: () => Promise.reject(new Error('no context')),
  });
  const { outcome } = await receiver.receive({ ...(await delivery(STARTED)), log: given });
  expect(outcome.outcome).toBe('deadline');
  await begun.promise;
  go.resolve();
  await ended.promise;
  expect(own.all).toEqual([]);
  expect(given.entries.map(({ message }) => message).sort()).toEqual([
    expect.stringContaining('call-webhooks: 503 deadline: '),
    expect.stringContaining('call-webhooks: the handler finished after its deadline'),
    'call-webhooks: waitUntil failed: Error: no context',
    'from the handler',
  ]);
});

it('the logger of a receiver gets the lines of the store that the receiver made', async () => {
  const logger = new Lines();
  const { receiver } = createTestReceiver({ logger });
  const claims = Array.from({ length: 100_001 }, (_, at) => String(at));
  for (const webhookId of claims)
    await receiver.store.admit({
      ...{ webhookId, token: webhookId, leaseMs: 1, replayUntil: NOW + 1_000 },
    });
  expect(logger.entries.map(({ message }) => message)).toEqual([
    expect.stringContaining('the memory store is full'),
  ]);
});
