import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { memoryDeadLetters, type QueuedDelivery, sign } from '@call-webhooks/core';
import { createJobProcessor, type WorkerJob } from '@call-webhooks/core/stores';
import type { InstrumentOptions } from '@call-webhooks/opentelemetry';
import type { Attributes } from '@opentelemetry/api';
import { receiverOf, type Sdk, SECRET, startSdk } from './sdk.ts';

// Whole values of a world in which no two values are equal, so that none can stand in the place of another.

const NOW = 1_760_000_000_000;
let sdk: Sdk;
const start = (options?: InstrumentOptions) => (sdk = startSdk(options));
beforeEach(() => {
  jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
});
afterEach(() => sdk.close());

/** Without the prefix that all attributes of ours have. */
const short = (attributes: Attributes) =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.replace(/^call_webhooks\./, ''),
      value,
    ]),
  );

/** Handlers that take some time, and fail if they are told to. */
const handlers = {
  'call:started': () => jest.advanceTimersByTimeAsync(30),
  'call:completed': async () => {
    await jest.advanceTimersByTimeAsync(700);
    throw new RangeError('no');
  },
};

/** A receiver of two tenants with dead letters after three attempts. */
function receiver(options: object = {}) {
  const { receiver } = receiverOf({
    tenant: ({ path }) => path.slice(1),
    secret: () => [{ id: 'crm', secret: SECRET }],
    deadLetter: memoryDeadLetters(),
    maxAttempts: 3,
    ...options,
  });
  return async (tenant: string, webhookId: string, secondsAgo: number, event: object) => {
    const body = new TextEncoder().encode(JSON.stringify(event));
    const timestamp = Math.floor(Date.now() / 1_000) - secondsAgo;
    const headers = await sign({ secret: SECRET, body, webhookId, timestamp });
    const request = { method: 'POST', url: `/${tenant}`, headers, body };
    return (await receiver.receive(request)).outcome.outcome;
  };
}

const job: QueuedDelivery = {
  tenant: 'acme',
  webhookId: 'w-of-job',
  timestamp: NOW / 1_000 - 90,
  receivedAt: NOW - 40_000,
  eventName: 'call:completed',
  callId: 'c3',
  key: 'tenant:acme:c3:call:completed',
  body: Buffer.from('{"eventName":"call:completed","callId":"c3"}').toString('base64'),
};
const work = (options: object, run: WorkerJob) =>
  createJobProcessor({
    ...{ logger: { warn: () => undefined, error: () => undefined }, on: handlers, maxRuns: 9 },
    ...options,
  })(job, run);

const spanOf = (name: string) => {
  const { attributes, kind } = sdk.span(name);
  return { kind, ...short(attributes) };
};

describe('a span tells of its delivery', () => {
  it('in a receiver, with the handler and the store', async () => {
    start();
    const send = receiver({ on: handlers });
    const event = { eventName: 'call:completed', callId: 'c1' };
    expect(await send('acme', 'w1', 4, event)).toBe('handler-failed');
    sdk.resetSpans();
    expect(await send('acme', 'w2', 5, event)).toBe('handler-failed');
    expect(spanOf('receive call:completed')).toEqual({
      kind: 1, // SERVER
      'messaging.system': 'call_webhooks',
      'messaging.operation.name': 'receive',
      'messaging.operation.type': 'receive',
      'http.request.method': 'POST',
      tenant: 'acme',
      'messaging.message.id': 'w2',
      event: 'call:completed',
      call_id: 'c1',
      key: 'tenant:acme:c1:call:completed',
      attempt: 2,
      source: 'webhook',
      outcome: 'handler-failed',
      attempts_left: 1,
      lag_ms: 5_700, // the first attempt took 700 ms, and signatures have whole seconds
      secret_id: 'crm',
      'http.response.status_code': 500,
      'error.type': 'handler-failed',
    });
    expect(spanOf('handle call:completed')).toEqual({
      kind: 0, // INTERNAL
      tenant: 'acme',
      'messaging.message.id': 'w2',
      event: 'call:completed',
      call_id: 'c1',
      key: 'tenant:acme:c1:call:completed',
      attempt: 2,
      'error.type': 'handler-failed',
    });
    const key = 'tenant:acme:c1:call:completed';
    expect(spanOf('store admit')).toEqual({
      ...{ kind: 0, key, 'store.operation': 'admit', 'store.status': 'admitted' },
    });
    expect(spanOf('store release')).toEqual({
      ...{ kind: 0, key, 'store.operation': 'release', 'store.status': 'held' },
    });
  });

  it('in a receiver that enqueues it', async () => {
    start();
    const send = receiver({ queue: { enqueue: () => Promise.resolve() }, maxAttempts: undefined });
    await send('globex', 'w3', 0, { eventName: 'call:started', callId: 'c2' });
    expect(spanOf('send call:started')).toEqual({
      kind: 3, // PRODUCER
      'messaging.system': 'call_webhooks',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      tenant: 'globex',
      'messaging.message.id': 'w3',
      event: 'call:started',
      call_id: 'c2',
      key: 'tenant:globex:c2:call:started',
    });
  });

  it('in a worker', async () => {
    start();
    await work({}, { attempt: 4 });
    expect(spanOf('process call:completed')).toEqual({
      kind: 4, // CONSUMER
      'messaging.system': 'call_webhooks',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      tenant: 'acme',
      'messaging.message.id': 'w-of-job',
      event: 'call:completed',
      call_id: 'c3',
      key: 'tenant:acme:c3:call:completed',
      attempt: 4,
      source: 'queue',
      outcome: 'handler-failed',
      attempts_left: 5,
      lag_ms: 40_000,
      'error.type': 'handler-failed',
    });
  });
});

it('each metric has its kind, its unit and its buckets', async () => {
  start({
    queues: { jobs: () => 1 },
    deadLetters: () => 1,
    status: () => Promise.resolve({ attention: [], events: [] }),
  });
  await receiver({ on: handlers })('acme', 'w1', 0, { eventName: 'call:started', callId: 'c1' });
  expect(await sdk.instruments()).toEqual({
    'call_webhooks.deliveries': ['COUNTER', '{delivery}', 'Deliveries by their outcome'],
    'call_webhooks.dead_letters': ['COUNTER', '{event}', 'Events that were given up'],
    'call_webhooks.lag': [
      'HISTOGRAM',
      's',
      'From the signature to the receiver; in a worker, from the receiver to the run',
      [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3_600, 14_400, 86_400],
    ],
    'call_webhooks.handler.duration': [
      'HISTOGRAM',
      's',
      'Duration of one run of a handler, including time beyond the deadline',
      [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60],
    ],
    'call_webhooks.in_flight': [
      'SUM',
      '{delivery}',
      'Deliveries without a response yet, and running jobs',
    ],
    'call_webhooks.queue.depth': ['GAUGE', '{job}', 'Jobs of a queue by their state'],
    'call_webhooks.dead_letters.kept': [
      'GAUGE',
      '{event}',
      'Dead letters that have not been redriven or removed',
    ],
    'call_webhooks.attention': [
      'GAUGE',
      '',
      'Whether something needs attention: 1, or 0 if all is well',
    ],
  });
});

describe('all values of all metrics', () => {
  const values = async (isShown: (value: number) => boolean) =>
    (await sdk.allPoints())
      .filter(({ name, value }) => isShown(value) && name !== 'call_webhooks.attention')
      .map(({ name, value, sum, attributes }) => [
        name.replace(/^call_webhooks\./, ''),
        value,
        ...(sum === undefined ? [] : [Math.round(sum * 1_000) / 1_000]),
        short(attributes),
      ]);

  it('before the first delivery: what alerts count from is there, at zero', async () => {
    start();
    const known = ['call:started', 'call:completed', 'call:recording-available'];
    const none = await values(() => true);
    expect(none).toEqual([
      [
        'deliveries',
        0,
        { outcome: 'handled', result: 'acknowledged', source: 'webhook', event: 'call:started' },
      ],
      ...known.flatMap((event) =>
        ['webhook', 'queue', 'reconcile'].map((source) => ['dead_letters', 0, { event, source }]),
      ),
      ['in_flight', 0, { source: 'webhook' }],
      ['in_flight', 0, { source: 'queue' }],
    ]);
  });

  it('of a receiver, a worker and stores', async () => {
    start({
      queues: { mail: () => 11, jobs: () => Promise.resolve({ waiting: 12, dead: 13 }) },
      deadLetters: () => 14,
    });
    const send = receiver({ on: handlers });
    const completed = { eventName: 'call:completed', callId: 'c1' };
    await send('acme', 'w1', 1, { eventName: 'call:started', callId: 'c1' });
    for (const webhookId of ['w2', 'w3', 'w4']) await send('acme', webhookId, 2, completed);
    await send('globex', 'w5', 3, { note: 'a custom payload' });
    for (const attempt of [1, 9]) await work({}, { attempt });
    const started = { event: 'call:started' };
    const failed = { event: 'call:completed', 'error.type': 'handler-failed' };
    const counted = (event: string, outcome: string, result: string, source = 'webhook') => ({
      ...{ event, outcome, result, source },
    });
    const [webhook, queue] = [{ source: 'webhook' }, { source: 'queue' }];
    expect(await values((value) => value > 0)).toEqual([
      ['deliveries', 1, counted('call:started', 'handled', 'acknowledged')],
      ['deliveries', 2, counted('call:completed', 'handler-failed', 'failed')],
      ['deliveries', 1, counted('call:completed', 'dead-lettered', 'acknowledged')],
      ['deliveries', 1, counted('none', 'ignored', 'acknowledged')],
      ['deliveries', 1, counted('call:completed', 'handler-failed', 'failed', 'queue')],
      ['deliveries', 1, counted('call:completed', 'dead-lettered', 'acknowledged', 'queue')],
      ['dead_letters', 1, { event: 'call:completed', ...webhook }],
      ['dead_letters', 1, { event: 'call:completed', ...queue }],
      // The signatures have whole seconds, and the clock goes on while a handler runs.
      ['lag', 5, 11.32, webhook],
      ['lag', 2, 84.96, queue],
      ['handler.duration', 1, 0.03, { ...started, ...webhook }],
      ['handler.duration', 3, 2.1, { ...failed, ...webhook }],
      ['handler.duration', 2, 1.4, { ...failed, ...queue }],
      ['queue.depth', 11, { queue: 'mail', state: 'waiting' }],
      ['queue.depth', 12, { queue: 'jobs', state: 'waiting' }],
      ['queue.depth', 13, { queue: 'jobs', state: 'dead' }],
      ['dead_letters.kept', 14, {}],
    ]);
  });

  it('of what is in flight, by its source', async () => {
    start();
    const inFlight: unknown[] = [];
    const look = async () => {
      const found = await values((value) => value !== 0);
      inFlight.push(found.filter(([name]) => name === 'in_flight'));
    };
    const on = { 'call:started': look, 'call:completed': look };
    await receiver({ on })('acme', 'w1', 0, { eventName: 'call:started', callId: 'c1' });
    await work({ on }, { attempt: 1 });
    await look();
    expect(inFlight).toEqual([
      [['in_flight', 1, { source: 'webhook' }]],
      [['in_flight', 1, { source: 'queue' }]],
      [],
    ]);
  });
});
