import { describe, expect, it } from '@jest/globals';
import { scriptClient, type RedisClient } from '../src/clients.ts';

const KEYS = ['one', 'two'];
const ARGS = ['text', '5'];

/** Makes both calls. @returns what the client was called with, method first */
async function callsOf(make: (record: (method: string) => unknown) => object) {
  const calls: unknown[][] = [];
  const record =
    (method: string) =>
    (...args: unknown[]) => {
      calls.push([method, ...args]);
      return Promise.resolve('OK');
    };
  const scripts = scriptClient(make(record) as RedisClient);
  expect(await scripts.evalsha('sha', KEYS, ARGS)).toBe('OK');
  expect(await scripts.eval('script', KEYS, ARGS)).toBe('OK');
  return calls;
}

describe('scripts are run with the arguments that the client expects', () => {
  it('ioredis: the number of keys, then one by one', async () => {
    const calls = await callsOf((record) => ({
      ...{ defineCommand: record('defineCommand'), status: 'ready' },
      ...{ evalsha: record('evalsha'), eval: record('eval') },
    }));
    expect(calls).toEqual([
      ['evalsha', 'sha', 2, 'one', 'two', 'text', '5'],
      ['eval', 'script', 2, 'one', 'two', 'text', '5'],
    ]);
  });

  it('node-redis: keys and arguments in an object', async () => {
    const calls = await callsOf((record) => ({
      ...{ evalSha: record('evalSha'), eval: record('eval') },
      ...{ isOpen: true, isReady: true },
    }));
    expect(calls).toEqual([
      ['evalSha', 'sha', { keys: KEYS, arguments: ARGS }],
      ['eval', 'script', { keys: KEYS, arguments: ARGS }],
    ]);
  });

  it('valkey-glide: one list of texts', async () => {
    const calls = await callsOf((record) => ({ customCommand: record('customCommand') }));
    expect(calls).toEqual([
      ['customCommand', ['EVALSHA', 'sha', '2', 'one', 'two', 'text', '5']],
      ['customCommand', ['EVAL', 'script', '2', 'one', 'two', 'text', '5']],
    ]);
  });

  it('Bun: the command, then one list of texts', async () => {
    const calls = await callsOf((record) => ({
      ...{ send: record('send'), connected: false },
      ...{ evalsha: record('evalsha'), eval: record('eval') },
    }));
    expect(calls).toEqual([
      ['send', 'EVALSHA', ['sha', '2', 'one', 'two', 'text', '5']],
      ['send', 'EVAL', ['script', '2', 'one', 'two', 'text', '5']],
    ]);
  });

  it('@upstash/redis: keys and arguments as lists', async () => {
    const calls = await callsOf((record) => ({
      ...{ evalsha: record('evalsha'), eval: record('eval') },
      ...{ send: record('send') }, // not Bun's: it has no `connected`
    }));
    expect(calls).toEqual([
      ['evalsha', 'sha', KEYS, ARGS],
      ['eval', 'script', KEYS, ARGS],
    ]);
  });
});

/** Of both calls: whether the client was asked at all. */
async function reaches(make: (call: () => Promise<unknown>) => object): Promise<boolean[]> {
  const scripts = scriptClient(make(() => Promise.resolve('OK')) as RedisClient);
  return Promise.all(
    [scripts.evalsha('sha', [], []), scripts.eval('script', [], [])].map((call) =>
      call.then(
        () => true,
        (error: unknown) => {
          expect(error).toEqual(new Error('The client is not connected to its server.'));
          return false;
        },
      ),
    ),
  );
}

describe('a client that is not connected would keep the call until the server is back', () => {
  it.each([
    ['ready', true],
    ['wait', true], // with lazyConnect, it connects for this call
    ['connecting', true],
    ['connect', true],
    ['reconnecting', false],
    ['close', false],
    ['end', false],
  ])('ioredis in the state %s: asked is %s', async (status, asked) => {
    const made = await reaches((call) => ({
      ...{ defineCommand: call, evalsha: call, eval: call, status },
    }));
    expect(made).toEqual([asked, asked]);
  });

  it.each([
    [true, true, true],
    [true, false, false],
    [false, false, true], // never connected: it fails by itself, and says why
    [undefined, undefined, true], // a pool or a cluster of older versions
    [true, undefined, true],
  ])('node-redis with isOpen %s and isReady %s: asked is %s', async (isOpen, isReady, asked) => {
    const made = await reaches((call) => ({ evalSha: call, eval: call, isOpen, isReady }));
    expect(made).toEqual([asked, asked]);
  });
});

describe('what is no client is refused', () => {
  const call = () => Promise.resolve();
  it.each<[string, unknown]>([
    ['null', null],
    ['a text', 'redis://127.0.0.1'],
    ['a function', Object.assign(() => 1, { evalsha: call, eval: call })],
    ['properties that are no functions', { evalsha: 'evalsha', eval: 'eval' }],
    ['only evalsha', { evalsha: call }],
    ['Bun’s send alone', { send: call }],
  ])('%s', (_name, client) => {
    expect(() => scriptClient(client as RedisClient)).toThrow(
      'Invalid client of redisStore: expected a client of ioredis, node-redis, valkey-glide, @upstash/redis or Bun.',
    );
  });

  it.each<[string, object, string]>([
    [
      'a promise',
      Promise.resolve(),
      'Invalid client of redisStore: this is a promise. Await it first.',
    ],
    [
      'a pipeline',
      { isPipeline: true, evalsha: call, eval: call },
      'Invalid client of redisStore: this is a pipeline or transaction. Pass the client itself.',
    ],
    [
      'node-redis 3',
      { internal_send_command: call, evalsha: call, eval: call },
      'Invalid client of redisStore: this is a client of node-redis 3, which has callbacks. Update to version 4 or newer.',
    ],
  ])('%s, with what to do', (_name, client, message) => {
    expect(() => scriptClient(client as RedisClient)).toThrow(message);
  });

  it('but not a client without a prototype', () => {
    const client = Object.assign(Object.create(null) as object, { evalsha: call, eval: call });
    expect(() => scriptClient(client as RedisClient)).not.toThrow();
  });
});
