import { describe, expect, it } from '@jest/globals';
import { Redis as Upstash } from '@upstash/redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createReceiver, generateSecret } from '@call-webhooks/core';
import { redisStore, type RedisClient } from '../src/index.ts';

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
    for (const [name, value] of Object.entries(invalid))
      expect(() => redisStore(client, { [name]: value })).toThrow(name);
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
});
