import { describe, expect, it, jest } from '@jest/globals';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import { callBody, collectingLogger } from '@call-webhooks/contract-tests';
import { Redis as Upstash } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { redisDeadLetters, redisStore, type RedisClient } from '../src/index.ts';
import { claim } from './claim.ts';

const EVENT = 'p:{event}:event';

/** Keeps each call, method first, and replies like a script that did something. */
function recorded(reply: () => unknown = () => '=[1]') {
  const calls: unknown[][] = [];
  const record =
    (method: string) =>
    async (...args: unknown[]): Promise<unknown> => {
      if (!JSON.stringify(args).includes(EVENT)) return '='; // the question about the server
      calls.push([method, ...args]);
      return reply();
    };
  return { calls, record };
}

const REOPEN = ['86400000', '[["reopen"]]', 'together'];

/** A fake of each client, with its two calls and how it is called. */
const CLIENTS: Record<
  string,
  (record: (method: string) => unknown) => { client: object; call: unknown[] }
> = {
  ioredis: (record) => ({
    client: {
      ...{ defineCommand: record('defineCommand'), status: 'ready' },
      ...{ evalsha: record('evalsha'), eval: record('eval') },
    },
    call: [1, EVENT, ...REOPEN],
  }),
  'node-redis': (record) => ({
    client: {
      ...{ evalSha: record('evalsha'), eval: record('eval') },
      ...{ isOpen: true, isReady: true },
    },
    call: [{ keys: [EVENT], arguments: REOPEN }],
  }),
  '@upstash/redis, or one without a prototype': (record) => ({
    client: Object.assign(Object.create(null) as object, {
      ...{ evalsha: record('evalsha'), eval: record('eval') },
      ...{ send: record('send') }, // not Bun's: it has no `connected`
    }),
    call: [[EVENT], REOPEN],
  }),
};

describe('redisStore calls a script as its client takes it, and whole once the server does not know it', () => {
  it.each(Object.keys(CLIENTS))('%s', async (name) => {
    let isKnown = true;
    const { calls, record } = recorded(() => {
      if (isKnown) return '=[1]';
      isKnown = true;
      throw new Error('NOSCRIPT No matching script. Please use EVAL.');
    });
    const { client, call } = CLIENTS[name]!(record);
    const store = redisStore(client as RedisClient, { prefix: 'p', logger: collectingLogger() });
    expect(await store.reopen!('event')).toBe(true);
    isKnown = false;
    expect(await store.reopen!('event')).toBe(true);
    const byName = ['evalsha', expect.stringMatching(/^[0-9a-f]{40}$/), ...call];
    expect(calls).toEqual([byName, byName, ['eval', expect.any(String), ...call]]);
  });

  it.each(['valkey-glide', 'Bun'])('%s, which takes a list', async (name) => {
    const sent: string[][] = [];
    const send = (args: string[]) => {
      if (args[2] !== '0') sent.push(args);
      return Promise.resolve('=[1]');
    };
    const client =
      name === 'Bun'
        ? { connected: true, send: (command: string, args: string[]) => send([command, ...args]) }
        : { customCommand: send };
    expect(await redisStore(client, { prefix: 'p' }).reopen!('event')).toBe(true);
    expect(sent).toEqual([['EVALSHA', expect.any(String), '1', EVENT, ...REOPEN]]);
  });

  it.each([
    'NoScriptError: No matching script.',
    'An error was signalled by the server: - NoScript: No matching script',
  ])('valkey-glide writes the error in another way: %s', async (message) => {
    const evaluated = jest.fn(() => Promise.resolve('=[1]'));
    const evalsha = () => Promise.reject(new Error(message));
    expect(await redisStore({ evalsha, eval: evaluated }).reopen!('event')).toBe(true);
  });

  it.each(['OOM command not allowed', 'ERR Unknown: myNoScript'])(
    'but not after another error: %s',
    async (message) => {
      const evaluated = jest.fn((_script: string, keys: string[]) =>
        Promise.resolve(keys.length > 0 ? '=[1]' : '='),
      );
      const evalsha = () => Promise.reject(new Error(message));
      const store = redisStore({ evalsha, eval: evaluated });
      await expect(store.reopen!('event')).rejects.toThrow(message);
    },
  );
});

describe('a client that is not connected would keep the call until the server is back', () => {
  const reopens = async (client: object) =>
    redisStore(client as RedisClient, { prefix: 'p', logger: collectingLogger() }).reopen!(
      'event',
    ).catch(String);
  const call = () => Promise.resolve('=[1]');
  const REFUSED =
    'Error: The client is not connected to its server. Its `error` event has the cause, such as a wrong password.';

  it.each([
    ['ready', true],
    ['wait', true], // with lazyConnect, it connects for this call
    ['connecting', true],
    ['connect', true],
    ['reconnecting', REFUSED],
    ['close', REFUSED],
    ['end', REFUSED],
  ])('ioredis in the state %s: %s', async (status, expected) => {
    expect(await reopens({ defineCommand: call, evalsha: call, eval: call, status })).toBe(
      expected,
    );
  });

  it.each([
    [true, true, true],
    [true, false, REFUSED],
    [false, false, true], // never connected: it fails by itself, and says why
    [undefined, undefined, true], // a pool or a cluster of older versions
    [true, undefined, true],
  ])('node-redis with isOpen %s and isReady %s: %s', async (isOpen, isReady, expected) => {
    expect(await reopens({ evalSha: call, eval: call, isOpen, isReady })).toBe(expected);
  });
});

describe('a reply of another form than the script has', () => {
  const REPLIES: [string, unknown][] = [
    ['nothing', null],
    ['undefined', undefined],
    ['an empty text', ''],
    ['an empty list', []],
    ['a list of nothing', [null]],
    ['a list of an empty text', ['']],
    ['a number', 1],
    ['zero', 0],
    ['a bigint', 1n],
    ['a text without its mark', '1'],
    ['a list', ['=[1]']],
    ['OK', 'OK'],
    ['an unknown answer', '=[-9]'],
    ['a number that is no list', '=1'],
    ['an attempt of 0', '=[0]'],
    ['half an attempt', '=[1.5]'],
    ['an attempt in a text', '=["1"]'],
    ['two answers', '=[1,1]'],
    ['half a list', '=[1'],
    ['the mark alone', '='],
    ['bytes without the mark', Buffer.from('1')],
    ['an object', { 0: '=[1]' }],
    ['true', true],
  ];
  const clientWith = (reply: unknown) => ({
    evalsha: () => Promise.resolve(reply),
    eval: () => Promise.resolve('='),
  });

  it.each(REPLIES)('%s is neither an admission nor a duplicate', async (_name, reply) => {
    const store = redisStore(clientWith(reply));
    for (const key of ['event', undefined])
      await expect(store.admit(claim(key))).rejects.toThrow('that the script cannot return');
  });

  it.each(REPLIES.filter(([, reply]) => !['=[0]', '=1', '='].includes(String(reply))))(
    '%s neither ends nor extends a lease, and is no letter',
    async (_name, reply) => {
      const store = redisStore(clientWith(reply));
      const letters = redisDeadLetters(clientWith(reply));
      for (const call of [
        () => store.complete('event', 'token'),
        () => store.release('event', 'token'),
        () => store.extend('event', 'token', 1_000),
        () => store.reopen!('event'),
        () => letters.get('id'),
        () => letters.list(),
        () => letters.claim('id', { token: 'token', leaseMs: 1_000 }),
        () => letters.extend('id', 'token', 1_000),
        () => letters.remove('id'),
      ])
        await expect(call()).rejects.toThrow('that the script cannot return');
    },
  );

  it.each<[string, unknown]>([
    ['nothing', null],
    ['JSON that was parsed', { next: 5 }],
    ['a number', 5],
  ])('%s is no cursor', async (_name, reply) => {
    const store = redisStore(clientWith(reply));
    await expect(store.loadCursor!('name')).rejects.toThrow('that the script cannot return');
    await expect(store.saveCursor!('name', 'here')).rejects.toThrow(
      'that the script cannot return',
    );
    await expect(store.ping!()).rejects.toThrow('that the script cannot return');
  });

  it('gets a delivery 503, and its handler is not run', async () => {
    const secret = generateSecret();
    let runs = 0;
    const receiver = createReceiver({
      ...{ secret, store: redisStore(clientWith(null)), logger: collectingLogger() },
      on: { 'call:completed': () => void (runs += 1) },
    });
    const body = Buffer.from(callBody('call-1'));
    const { outcome } = await receiver.receive({ headers: await sign({ secret, body }), body });
    expect(outcome).toMatchObject({ outcome: 'store-unavailable', status: 503 });
    expect(runs).toBe(0);
  });
});

describe('what is no client is refused', () => {
  const call = () => Promise.resolve('=[1]');
  const EXPECTED = 'expected a client of ioredis, node-redis, valkey-glide, @upstash/redis or Bun';
  it.each<[string, unknown, string]>([
    ['nothing', undefined, EXPECTED],
    ['null', null, EXPECTED],
    ['a text', 'redis://127.0.0.1', EXPECTED],
    ['a map', new Map(), EXPECTED],
    ['a function', Object.assign(() => 1, { evalsha: call, eval: call }), EXPECTED],
    ['properties that are no functions', { evalsha: 'evalsha', eval: 'eval' }, EXPECTED],
    ['only evalsha', { evalsha: call }, EXPECTED],
    ['Bun’s send alone', { send: call }, EXPECTED],
    ['a promise of a client', Promise.resolve({ evalsha: call, eval: call }), 'Await it first'],
    ['a pipeline of ioredis', new Redis({ lazyConnect: true }).pipeline(), 'this is a pipeline'],
    ['a transaction of node-redis', createClient().multi(), 'this is a pipeline'],
    [
      'a pipeline of Upstash',
      new Upstash({ url: 'https://localhost', token: 't' }).pipeline(),
      'this is a pipeline',
    ],
    ['node-redis 3', { internal_send_command: call, evalsha: call, eval: call }, 'node-redis 3'],
    ['ioredis with keyPrefix', new Redis({ lazyConnect: true, keyPrefix: 'a:' }), 'keyPrefix'],
    [
      'a Cluster of ioredis with keyPrefix',
      new Cluster(['127.0.0.1'], { lazyConnect: true, redisOptions: { keyPrefix: 'a:' } }),
      'keyPrefix',
    ],
    ['node-redis with keyPrefix', createClient({ keyPrefix: 'a:' }), 'keyPrefix'],
    [
      'a cluster of node-redis with keyPrefix',
      createCluster({ rootNodes: [], keyPrefix: 'a:' }),
      'keyPrefix',
    ],
  ])('%s', (_name, client, mistake) => {
    for (const create of [redisStore, redisDeadLetters]) {
      const refused = () => create(client as RedisClient);
      expect(refused).toThrow(expect.objectContaining({ code: 'invalid-options' }));
      expect(refused).toThrow(`Invalid client of ${create.name}: `);
      expect(refused).toThrow(mistake);
    }
  });

  it('and so are invalid options', () => {
    const client = { evalsha: call, eval: call };
    const invalid = { rememberFor: NaN, prefix: 'a{b', logger: {}, remember: 5 };
    for (const [name, value] of Object.entries(invalid)) {
      expect(() => redisStore(client, { [name]: value })).toThrow(name);
      expect(() => redisStore(client, { [name]: value })).toThrow('options of redisStore');
    }
    expect(() => redisDeadLetters(client, { prefix: '' })).toThrow('options of redisDeadLetters');
    for (const rememberFor of [0, 599_999, Infinity])
      expect(() => redisStore(client, { rememberFor })).toThrow('600000');
  });
});

it('has no completeIn, as the types say: Redis is not the database of its transactions', async () => {
  const errors: unknown[] = [];
  const call = () => Promise.resolve('=[1]');
  const receiver = createReceiver({
    secret: generateSecret(),
    store: redisStore({ evalsha: call, eval: call }),
    on: {
      // @ts-expect-error it has none
      'call:started': (_event, { completeIn }) => completeIn({ query: call }),
    },
    onError: (error) => errors.push(error),
    logger: collectingLogger(),
  });
  await receiver.deliver({ eventName: 'call:started', callId: 'c' }, { source: 'reconcile' });
  expect(errors).toHaveLength(1);
  expect(String(errors)).toContain('Use postgresStore, mysqlStore or sqliteStore');
});

describe('a server that became a replica', () => {
  it('is told of with what the client needs, for one call and among others', async () => {
    const message = "READONLY You can't write against a read only replica.";
    const refusing = {
      evalsha: () => Promise.reject(new Error(message)),
      eval: () => Promise.resolve('='),
    };
    const some = {
      evalsha: () => Promise.resolve(`=${JSON.stringify([1, [message]])}`),
      eval: () => Promise.resolve('='),
    };
    const store = redisStore(some);
    const [, among] = await Promise.allSettled([store.release('a', 't'), store.release('b', 't')]);
    const alone = await redisStore(refusing).ping!().catch((error: unknown) => error);
    for (const error of [alone, (among as PromiseRejectedResult).reason])
      expect(error).toMatchObject({
        message: expect.stringMatching(/^READONLY .*Set reconnectOnError of ioredis/),
        cause: new Error(message),
      });
  });
});
