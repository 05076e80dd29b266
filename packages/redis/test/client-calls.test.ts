import { describe, expect, it, jest } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { type RedisClient, scriptClient } from '../src/clients.ts';
import { redisDeadLetters, redisStore } from '../src/index.ts';
import { isOne, ScriptRunner, whole } from '../src/script-runner.ts';

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

describe('running a script', () => {
  /** The SHA-1 of `return 1`. */
  const SHA = 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db';

  /** A client to which the server replies so. */
  const client = (evalsha: () => Promise<unknown>) => ({
    evalsha: jest.fn(evalsha),
    eval: jest.fn(() => Promise.resolve('whole')),
  });
  const failing = (message: string) => client(() => Promise.reject(new Error(message)));

  describe('a script', () => {
    it('is called by the name that Redis gives it, with texts', async () => {
      const known = client(() => Promise.resolve('by name'));
      const script = new ScriptRunner(known, 'return 1');
      expect(await script.run(['key'], ['a', 5])).toBe('by name');
      expect(await script.run(['key'], [])).toBe('by name');
      expect(known.evalsha.mock.calls).toEqual([
        [SHA, ['key'], ['a', '5']],
        [SHA, ['key'], []],
      ]);
      expect(known.eval).not.toHaveBeenCalled();
    });

    it.each([
      'NOSCRIPT No matching script. Please use EVAL.',
      'NoScriptError: No matching script.',
      'An error was signalled by the server: - NoScript: No matching script',
    ])('is sent whole to a server that does not know it: %s', async (message) => {
      const unknown = failing(message);
      expect(await new ScriptRunner(unknown, 'return 1').run(['key'], ['a', 5])).toBe('whole');
      expect(unknown.eval.mock.calls).toEqual([['return 1', ['key'], ['a', '5']]]);
    });

    it.each(['OOM command not allowed', 'READONLY', 'ERR Unknown: myNoScript'])(
      'fails with the error of the server otherwise: %s',
      async (message) => {
        const refusing = failing(message);
        const run = new ScriptRunner(refusing, 'return 1').run([], []);
        await expect(run).rejects.toThrow(message);
        expect(refusing.eval).not.toHaveBeenCalled();
      },
    );

    it('fails with what the client rejected with, if it is no error', async () => {
      const odd = client(jest.fn<() => Promise<unknown>>().mockRejectedValue('NOSCRIPT'));
      await expect(new ScriptRunner(odd, 'return 1').run([], [])).rejects.toBe('NOSCRIPT');
    });
  });

  it.each([
    [0, 1],
    [-5, 1],
    [0.2, 1],
    [1, 1],
    [40.5, 41],
    [60_000, 60_000],
  ])('the server gets %d ms as %d', (ms, expected) => {
    expect(whole(ms)).toBe(expected);
  });

  it('replies are one as numbers, bigints and texts', () => {
    expect([1, 1n, '1'].map(isOne)).toEqual([true, true, true]);
    expect([0, 0n, '0', 2, 'OK', null].map(isOne)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe('redisStore', () => {
  /** The reply to a batch of one call. */
  const some = () => Promise.resolve([1]);
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'expected a client'],
    ['a map', new Map(), 'expected a client'],
    ['half a client', { eval: some }, 'expected a client'],
    ['a promise of a client', Promise.resolve({ evalsha: some, eval: some }), 'Await it first'],
    ['a pipeline of ioredis', new Redis({ lazyConnect: true }).pipeline(), 'this is a pipeline'],
    ['a transaction of node-redis', createClient().multi(), 'this is a pipeline'],
    [
      'a pipeline of Upstash',
      new Upstash({ url: 'https://localhost', token: 't' }).pipeline(),
      'this is a pipeline',
    ],
    ['node-redis 3', { internal_send_command: some, evalsha: some, eval: some }, 'node-redis 3'],
  ])('refuses what is no client: %s', (_name, client, mistake) => {
    expect(() => redisStore(client as RedisClient)).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(mistake),
      }),
    );
  });

  it('refuses invalid options', () => {
    const client = { evalsha: some, eval: some };
    const invalid = { rememberFor: NaN, prefix: 'a{b', logger: {}, remember: 5 };
    for (const [name, value] of Object.entries(invalid)) {
      expect(() => redisStore(client, { [name]: value })).toThrow(name);
      expect(() => redisStore(client, { [name]: value })).toThrow('options of redisStore');
    }
    expect(() => redisDeadLetters(client, { prefix: '' })).toThrow('options of redisDeadLetters');
    for (const rememberFor of [0, 599_999, Infinity])
      expect(() => redisStore(client, { rememberFor })).toThrow('600000');
  });

  it('has no completeIn, as the types say: Redis is not the database of its transactions', async () => {
    const errors: unknown[] = [];
    const receiver = createReceiver({
      secret: generateSecret(),
      store: redisStore({ evalsha: some, eval: some }),
      on: {
        // @ts-expect-error it has none
        'call:started': (_event, { completeIn }) => completeIn({ query: some }),
      },
      onError: (error) => errors.push(error),
      logger: { warn: () => undefined, error: () => undefined },
    });
    await receiver.deliver({ eventName: 'call:started', callId: 'c' }, { source: 'reconcile' });
    expect(errors).toHaveLength(1);
    expect(String(errors)).toContain('Use postgresStore or sqliteStore');
  });

  it('calls Bun with the number of keys, as the command wants it', async () => {
    const sent: unknown[] = [];
    const client = {
      connected: true,
      evalsha: some,
      eval: some,
      send: (command: string, args: string[]) => {
        sent.push([command, ...args.slice(1)]);
        return Promise.resolve(command === 'EVAL' ? '' : [1]);
      },
    };
    const store = redisStore(client);
    expect(await store.release('event', 'token')).toBe(true);
    expect(sent).toEqual([
      ['EVAL', '0'],
      ['EVALSHA', '1', 'call-webhooks:{event}:event', '86400000', 'release\ntoken'],
    ]);
  });

  it('runs a script for each call, with no more than it needs', async () => {
    const calls: unknown[] = [];
    const evalsha = (_sha: string, keys: string[], args: string[]) => {
      calls.push([keys, args]);
      return Promise.resolve(args.length === 2 ? [1] : '=where');
    };
    const store = redisStore({ evalsha, eval: some }, { prefix: 'p' });
    expect(await store.reopen!('event')).toBe(true);
    expect(await store.loadCursor!('reconcile')).toBe('where');
    await store.saveCursor!('reconcile', 'here');
    await store.saveCursor!('reconcile', undefined);
    await store.ping!();
    expect(calls).toEqual([
      [['p:{event}:event'], ['86400000', 'reopen']],
      [['p:{reconcile}:cursor'], []],
      [['p:{reconcile}:cursor'], ['here']],
      [['p:{reconcile}:cursor'], ['']],
      [['p:ping'], []],
    ]);
  });

  it('warns on the console by default', async () => {
    const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
    const evicting = () => Promise.resolve('maxmemory_policy:allkeys-lru');
    redisStore({ evalsha: some, eval: evicting });
    redisDeadLetters({ evalsha: some, eval: evicting });
    await waitFor(() => warn.mock.calls.length === 2, { every: 1 });
    const lines = warn.mock.calls.map((args) => JSON.stringify(args));
    expect(lines[0]).toContain('maxmemory-policy is allkeys-lru');
    expect(lines[1]).toContain('Redis server of the dead letters');
    warn.mockRestore();
  });
});
