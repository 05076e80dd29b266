import { describe, expect, it, jest } from '@jest/globals';
import { waitFor } from '@call-webhooks/contract-tests';
import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { redisDeadLetters, redisStore, type RedisClient } from '../src/index.ts';

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
