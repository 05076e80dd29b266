import { describe, expect, it } from '@jest/globals';
import { memoryStore, OUTCOMES, type ReceiverOptions } from '../../src/index.ts';
import { createTestReceiver, delivery, STARTED } from '../support.ts';

const fail = () => {
  throw new Error('a trap');
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const hostile: [string, () => unknown][] = [
  ['a revoked proxy', revoked],
  [
    'a proxy whose traps throw',
    () =>
      new Proxy(
        {},
        {
          get: fail,
          has: fail,
          getPrototypeOf: fail,
          ownKeys: fail,
          getOwnPropertyDescriptor: fail,
        },
      ),
  ],
  [
    'an error whose getters throw',
    () => Object.defineProperties(new Error(), { message: { get: fail }, cause: { get: fail } }),
  ],
];

/** Each place where code of the user may throw. */
const places: [string, (thrown: () => never) => Partial<ReceiverOptions<never, never>>][] = [
  ['a handler', (thrown) => ({ on: { 'call:started': thrown } })],
  ['around', (thrown) => ({ around: thrown })],
  ['the store', (thrown) => ({ store: { ...memoryStore(), admit: thrown } })],
  ['the queue', (thrown) => ({ queue: { enqueue: thrown } })],
  ['a secret provider', (thrown) => ({ secret: thrown })],
  ['oneAtATime', (thrown) => ({ oneAtATime: thrown })],
  [
    'deadLetter',
    (thrown) => ({ deadLetter: thrown, maxAttempts: 1, on: { 'call:started': thrown } }),
  ],
  ['onError', (thrown) => ({ onError: thrown, on: { 'call:started': thrown } })],
  ['onOutcome', (thrown) => ({ onOutcome: thrown })],
  ['redact', (thrown) => ({ redact: thrown, on: { 'call:started': thrown } })],
  [
    'the logger',
    (thrown) => ({ logger: { warn: thrown, error: thrown }, on: { 'call:started': thrown } }),
  ],
];

describe.each(hostile)('%s', (_what, make) => {
  it.each(places)('that %s throws is an outcome, never a rejection', async (_place, options) => {
    const thrown = (): never => {
      throw make();
    };
    const { receiver } = createTestReceiver({
      on: { 'call:started': () => undefined },
      ...options(thrown),
    });
    const { outcome } = await receiver.receive(await delivery(STARTED));
    expect(Object.keys(OUTCOMES)).toContain(outcome.outcome);
  });

  it('that the reader of the body throws is an outcome, never a rejection', async () => {
    const { receiver } = createTestReceiver({});
    const { headers } = await delivery(STARTED);
    const { status } = await receiver.receive({
      headers,
      body: () => Promise.reject(make()),
    });
    expect(status).toBe(408);
  });
});

describe('a function that has to answer at once', () => {
  it.each<[string, Partial<ReceiverOptions<never, never>>, object]>([
    ['oneAtATime', { oneAtATime: (() => Promise.reject(new Error('no'))) as never }, STARTED],
    [
      'custom.key',
      {
        custom: { key: (() => Promise.reject(new Error('no'))) as never, handle: () => undefined },
      },
      { some: 'payload' },
    ],
    ['redact', { redact: (() => Promise.reject(new Error('no'))) as never }, STARTED],
  ])('%s may reject: nothing is left unhandled', async (_name, options, payload) => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    const { send } = createTestReceiver({
      on: { 'call:started': () => Promise.reject(new Error('down')) },
      ...options,
    });
    await send(payload);
    await new Promise((resolve) => setImmediate(resolve));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });
});
