import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { collectingLogger, deadLetter, queuedCall, waitFor } from '@call-webhooks/contract-tests';
import {
  bullmqQueue,
  createBullmqWorker,
  redisDeadLetters,
  redisStore,
  type BullmqQueueLike,
  type RedisClient,
} from '../src/index.ts';
import type { Logger } from '@call-webhooks/core';
import { claim } from './claim.ts';
import { fakeWorker } from './fake-worker.ts';

/** Lets promises that are settled run their callbacks. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A client whose server says this of itself, and how often it was asked. */
function clientOf(info: () => Promise<string>, reply = '=[1]') {
  const asked = jest.fn(info);
  const evaluate = (_script: string, keys: string[]) =>
    keys.length === 0 ? asked() : Promise.resolve(reply);
  return { client: { evalsha: evaluate, eval: evaluate }, asked };
}

/** What is logged by a store and by dead letters, when each is used three times. */
async function logged(of: 'store' | 'dead letters', info: string) {
  const logger = collectingLogger();
  const { client, asked } = clientOf(
    () => Promise.resolve(`=${info}`),
    of === 'store' ? '=[1]' : '=1',
  );
  const store = of === 'store' && redisStore(client, { logger });
  const letters = of === 'dead letters' && redisDeadLetters(client, { logger });
  for (let i = 0; i < 3; i++) {
    if (store) await store.admit(claim());
    if (letters) await letters.put(deadLetter());
    await settled();
  }
  expect(asked).toHaveBeenCalledTimes(1);
  return logger.entries;
}

const INFO = '# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:POLICY\r\nused_memory:5\r\n';

describe('a store warns if its server may drop leases and webhook ids', () => {
  it.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
    'with the policy %s',
    async (policy) => {
      expect(await logged('store', INFO.replace('POLICY', policy))).toEqual([
        {
          level: 'warn',
          message: `call-webhooks: the Redis server's maxmemory-policy is ${policy}. When its memory is full, it drops leases and webhook ids, and events may run twice. Set it to noeviction.`,
          fields: { policy, docs: expect.stringMatching(/\/stores\.html#redis$/) },
        },
      ]);
    },
  );

  it.each([
    ['keeps all', INFO.replace('POLICY', 'noeviction')],
    ['does not tell', ''],
  ])('not if it %s', async (_name, reply) => {
    expect(await logged('store', reply)).toEqual([]);
  });
});

describe('dead letters warn if their server could lose them', () => {
  const info = (policy: string, aof: number) =>
    `${INFO.replace('POLICY', policy)}# Persistence\r\naof_enabled:${String(aof)}\r\n`;

  it.each([
    ['allkeys-lru', 1, 'drops keys when its memory is full'],
    ['noeviction', 0, 'has appendonly set to no and loses its data at a restart'],
    [
      'allkeys-lru',
      0,
      'drops keys when its memory is full, and has appendonly set to no and loses its data at a restart',
    ],
  ])('policy %s, append-only file %d', async (policy, aof, problem) => {
    expect(await logged('dead letters', info(policy, aof))).toEqual([
      {
        level: 'warn',
        message: `call-webhooks: the Redis server of the dead letters ${problem}. Dead letters could be lost.`,
        fields: { docs: expect.stringMatching(/\/stores\.html#redis$/) },
      },
    ]);
  });

  it.each([
    ['keeps all', info('noeviction', 1)],
    ['drops only keys with a time to live', info('volatile-lru', 1)],
    ['does not tell', ''],
  ])('not if it %s', async (_name, reply) => {
    expect(await logged('dead letters', reply)).toEqual([]);
  });
});

describe('a queue warns if its server keeps no append-only file', () => {
  /** A client of ioredis whose server gives this reply. */
  const replying = (reply: () => Promise<unknown>) => ({ config: jest.fn(reply) });
  const no = () => replying(() => Promise.resolve(['appendonly', 'no']));
  const refusal = (name: string) =>
    replying(() => Promise.reject(Object.assign(new Error('NOPERM'), { name })));
  const WARNING = {
    level: 'warn',
    message:
      'call-webhooks: the Redis server of the queue has appendonly set to no. It loses acknowledged deliveries when it restarts. Set it to yes.',
    fields: { docs: expect.stringMatching(/\/queues\.html#what-they-promise$/) },
  };

  /** Queues two deliveries. */
  async function warnings(more: Pick<BullmqQueueLike, 'client' | 'getBackend'>) {
    const logger = collectingLogger();
    const done = () => Promise.resolve();
    const queue = { add: done, isPaused: () => Promise.resolve(false), ...more };
    const hand = bullmqQueue(queue, { logger });
    for (let i = 0; i < 2; i++) {
      await settled();
      await hand.enqueue(queuedCall('call-1'));
    }
    await settled();
    return logger.entries;
  }

  it.each<[string, (client: object) => object]>([
    ['version 5', (client) => ({ client: Promise.resolve(client) })],
    ['version 6', (client) => ({ getBackend: () => ({ client: Promise.resolve(client) }) })],
  ])('which it asks over the client of BullMQ, %s', async (_version, queueWith) => {
    const client = no();
    expect(await warnings(queueWith(client))).toEqual([WARNING]);
    expect(client.config.mock.calls).toEqual([['GET', 'appendonly']]);
  });

  it.each<[string, unknown]>([
    ['keeps one', ['appendonly', 'yes']],
    ['gives an empty reply', []],
    ['gives a reply of another shape', { appendonly: 'no' }],
    ['gives no reply', null],
  ])('not if it %s', async (_name, reply) => {
    const client = replying(() => Promise.resolve(reply));
    expect(await warnings({ client })).toEqual([]);
    expect(client.config).toHaveBeenCalledTimes(1);
  });

  it('not if the server refuses the question, and does not ask again', async () => {
    const client = refusal('ReplyError');
    expect(await warnings({ client })).toEqual([]);
    expect(client.config).toHaveBeenCalledTimes(1);
  });

  it('and asks again if there was no answer', async () => {
    const client = no();
    client.config.mockRejectedValueOnce(new Error('Connection is closed.'));
    expect(await warnings({ client })).toEqual([WARNING]);
  });

  it.each<[string, unknown]>([
    ['no backend', undefined],
    ['no client', {}],
    ['a client of another kind', { client: {} }],
  ])('not if the queue has %s', async (_name, backend) => {
    expect(await warnings({ getBackend: () => backend })).toEqual([]);
  });
});

describe('a server that did not answer the question', () => {
  it.each<[string, string, (client: RedisClient, logger: Logger) => () => Promise<unknown>]>([
    [
      'claim of a store',
      '=[1]',
      (client, logger) => {
        const store = redisStore(client, { logger });
        return () => store.admit(claim());
      },
    ],
    [
      'dead letter',
      '=1',
      (client, logger) => {
        const letters = redisDeadLetters(client, { logger });
        return () => letters.put(deadLetter());
      },
    ],
  ])('is asked again with the next %s, until there is an answer', async (_what, reply, use) => {
    const logger = collectingLogger();
    const { client, asked } = clientOf(
      () => Promise.resolve('=maxmemory_policy:allkeys-lru'),
      reply,
    );
    asked.mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'));
    const call = use(client, logger);
    for (let i = 0; i < 5; i++) {
      await settled();
      await call();
    }
    await settled();
    expect(asked).toHaveBeenCalledTimes(3);
    expect(logger.entries).toHaveLength(1);
  });
});

it('warnings go to the console by default', async () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  const { client } = clientOf(() => Promise.resolve('=maxmemory_policy:allkeys-lru'));
  redisStore(client);
  redisDeadLetters(client);
  await waitFor(() => warn.mock.calls.length === 2, { every: 1 });
  const lines = warn.mock.calls.map((args) => JSON.stringify(args)).join();
  expect(lines).toContain('maxmemory-policy is allkeys-lru');
  expect(lines).toContain('Redis server of the dead letters');
  warn.mockRestore();
});

describe('the errors of a worker', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** @returns emits an error, as BullMQ does */
  function errorsOf(options: object) {
    const listeners = new Map<string, (error: Error) => void>();
    const Worker = fakeWorker(listeners);
    const connection = { socketTimeout: 15_000 };
    createBullmqWorker({ Worker, queueName: 'calls', connection, ...options });
    return (message: string) => listeners.get('error')!(new Error(message));
  }

  it('are logged once every ten seconds: BullMQ emits one for each attempt to connect', () => {
    const logger = collectingLogger();
    const emit = errorsOf({ logger });
    emit('the first');
    jest.advanceTimersByTime(9_999);
    emit('too early');
    jest.advanceTimersByTime(1);
    emit('the second');
    expect(logger.entries).toEqual(
      ['the first', 'the second'].map((message) => ({
        level: 'warn',
        message: `call-webhooks: BullMQ's worker reported an error: Error: ${message}`,
        fields: {
          err: expect.objectContaining({ message }),
          docs: expect.stringMatching(/\/queues\.html#bullmq$/),
        },
      })),
    );
  });

  it('are redacted', () => {
    const logger = collectingLogger();
    errorsOf({ logger, redact: (text: string) => text.replace('hunter2', '***') })('AUTH hunter2');
    expect(logger.lines.join()).toContain('AUTH ***');
    expect(logger.lines.join()).not.toContain('hunter2');
  });

  it('say what a client needs whose server became a replica', () => {
    const logger = collectingLogger();
    errorsOf({ logger })("READONLY You can't write against a read only replica.");
    expect(logger.lines.join()).toContain('Set reconnectOnError of ioredis');
  });
});
