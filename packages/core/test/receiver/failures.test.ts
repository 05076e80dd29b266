import { describe, expect, it, jest } from '@jest/globals';
import {
  type DeadLetter,
  type HandlerContext,
  memoryStore,
  OUTCOMES,
  type ReceiverOptions,
  WebhookError,
} from '../../src/index.ts';
import { bytes, createTestReceiver, delivery, Lines, NOW, STARTED } from '../support.ts';

describe('a handler that fails', () => {
  const fail = () => {
    throw new Error('no');
  };

  it('runs again on the retry, with its attempts counted', async () => {
    const attempts: number[] = [];
    const { send, outcomes } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, { attempt }: HandlerContext) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error('no');
        },
      },
    });
    expect([
      await send(STARTED),
      await send(STARTED),
      await send(STARTED),
      await send(STARTED),
    ]).toEqual(['handler-failed', 'handler-failed', 'handled', 'duplicate']);
    expect(attempts).toEqual([1, 2, 3]);
    expect(outcomes.map(({ attempt }) => attempt)).toEqual([1, 2, 3, undefined]);
  });

  it('has no attempts left to count where there is no deadLetter', async () => {
    const { send, outcomes } = createTestReceiver({ on: { 'call:started': fail } });
    await send(STARTED);
    expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
  });

  it('has no count of attempts left when its last one is a dead letter that the store does not learn of', async () => {
    const store = { ...memoryStore(), complete: () => Promise.reject(new Error('down')) };
    const { send, outcomes } = createTestReceiver({
      ...{ store, on: { 'call:started': fail }, maxAttempts: 1, deadLetter: jest.fn() },
    });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
  });

  it('keeps failing without a deadLetter', async () => {
    const { send } = createTestReceiver({ on: { 'call:started': fail }, maxAttempts: 1 });
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('handler-failed');
  });

  it('passes the raw delivery to deadLetter after maxAttempts', async () => {
    const deadLetters: DeadLetter[] = [];
    const { send } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 2,
      deadLetter: (letter: DeadLetter) => void deadLetters.push(letter),
    });
    expect([
      await send(STARTED),
      await send(STARTED, { webhookId: 'last' }),
      await send(STARTED),
    ]).toEqual(['handler-failed', 'dead-lettered', 'in-dead-letters']);
    expect(deadLetters).toEqual([
      {
        reason: 'handler-failed',
        rawBody: bytes(JSON.stringify(STARTED)),
        webhookId: 'last',
        timestamp: new Date(NOW),
        eventName: 'call:started',
        callId: 'call-1',
        key: 'call-1:call:started',
        attempt: 2,
        failedAt: new Date(NOW),
        source: 'webhook',
        error: new Error('no'),
        errorText: 'Error: no',
        errorStack: expect.stringMatching(/^at .*failures\.test\.ts:\d+:\d+/),
      },
    ]);
  });

  it('names the cause of a dead letter in the outcome and in the log', async () => {
    const { send, lines, outcomes } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 1,
      deadLetter: () => undefined,
    });
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(outcomes[0]?.error).toMatchObject({ code: 'handler-failed' });
    expect(lines.join()).toContain('200 dead-lettered: The handler failed: Error: no');
  });

  it('is retried when deadLetter fails as well', async () => {
    const deadLetter = jest.fn(() => Promise.reject(new Error('disk full')));
    const { send, lines } = createTestReceiver({
      on: { 'call:started': fail },
      maxAttempts: 1,
      deadLetter,
    });
    expect(await send(STARTED)).toBe('handler-failed');
    expect(lines.join()).toContain('The deadLetter sink failed: Error: disk full');
    expect(lines[0]).toMatch(
      /callId: 'call-1'[^]*webhookId: '[^]*attempt: 1[^]*outcomes.html#handler-failed/,
    );
    deadLetter.mockResolvedValue(undefined as never);
    expect(await send(STARTED)).toBe('dead-lettered');
  });

  it('is not run again when its process died in every attempt', async () => {
    const clock = { now: NOW };
    const store = memoryStore({ now: () => clock.now });
    const die = async (token: string) => {
      await store.admit({
        webhookId: token,
        token,
        key: 'call-1:call:started',
        leaseMs: 1_000,
        replayUntil: NOW + 1_000,
      });
      clock.now += 1_000;
    };
    for (const token of ['a', 'b', 'c', 'd', 'e']) await die(token);
    const handle = jest.fn(fail);
    const deadLetters: DeadLetter[] = [];
    const { send, outcomes } = createTestReceiver({
      store,
      on: { 'call:started': handle },
      maxAttempts: 2,
      deadLetter: (letter: DeadLetter) => void deadLetters.push(letter),
    });
    const sink = jest.spyOn(deadLetters, 'push');
    sink.mockImplementationOnce(fail);
    expect(await send(STARTED)).toBe('handler-failed'); // attempt 6 of 2 × 3
    expect(handle).toHaveBeenCalledTimes(1);
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(handle).toHaveBeenCalledTimes(1);
    expect(deadLetters[0]).toMatchObject({
      attempt: 7,
      reason: 'handler-failed',
      errorText: expect.stringContaining('The event was given up after 6 attempts'),
    });
    expect(outcomes.at(-1)).not.toHaveProperty('handlerMs');
  });

  it('is not blamed on a content-length that counts more bytes', async () => {
    const { receiver } = createTestReceiver({ on: { 'call:started': fail } });
    const { headers, body } = await delivery(STARTED);
    const longer = { ...headers, 'content-length': String(body.length + 1) };
    const { outcome } = await receiver.receive({ headers: longer, body });
    expect(outcome.outcome).toBe('handler-failed');
  });

  it('may throw anything', async () => {
    const thrown: unknown[] = [
      'text',
      undefined,
      null,
      7,
      new WebhookError('handled', 'odd'),
      new WebhookError('duplicate', 'odd'),
    ];
    const { send } = createTestReceiver({
      on: { 'call:started': () => Promise.reject(thrown.pop()) },
    });
    for (let left = thrown.length; left > 0; left--)
      expect(await send(STARTED)).toBe('handler-failed');
  });

  it('with an invalid payload goes to deadLetter at once', async () => {
    const deadLetters: DeadLetter[] = [];
    const deadLetter = jest.fn((letter: DeadLetter) => void deadLetters.push(letter));
    const { send, lines } = createTestReceiver({ deadLetter });
    expect(await send(bytes('{'))).toBe('dead-lettered');
    expect(deadLetters[0]).toMatchObject({
      reason: 'invalid-payload',
      rawBody: bytes('{'),
      attempt: 1,
      error: { code: 'invalid-payload' },
    });
    expect(lines).toHaveLength(1);
    deadLetter.mockImplementation(fail);
    expect(await send(bytes('{'))).toBe('invalid-payload');
  });
});

describe('a proxy that is thrown', () => {
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
          custom: {
            key: (() => Promise.reject(new Error('no'))) as never,
            handle: () => undefined,
          },
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
});

describe('a delivery that fails', () => {
  /** A schema whose output tells how often its fields are read. */
  function counted(fields: Record<string, unknown>) {
    let reads = 0;
    const value = new Proxy(fields, {
      get(target, name) {
        reads += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
    const validate = () => ({ value });
    const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } };
    return { schema, reads: () => reads };
  }

  /** Every error of one delivery, with causes and parts, that quotes what it was given. */
  const errors = (quote: string) => {
    const causes = [4, 3, 2, 1].reduce(
      (cause, at) => new Error(`cause ${String(at)} of ${quote}`, { cause }),
      new Error(quote),
    );
    const parts = Array.from(
      { length: 20 },
      (_, at) => new Error(`part ${String(at)} of ${quote}`),
    );
    return new AggregateError(parts, `all of ${quote}`, { cause: causes });
  };

  async function fail(schema: object, thrown: unknown): Promise<string> {
    const logger = new Lines();
    const reject = () => Promise.reject(thrown);
    const options = { custom: { schema, handle: reject }, deadLetter: reject, maxAttempts: 1 };
    const { send } = createTestReceiver({ ...options, logger } as object);
    expect(await send({ ticket: 1 })).toBe('handler-failed');
    expect(logger.entries).toHaveLength(1);
    expect(logger.all[0]).toContain('The deadLetter sink failed');
    return logger.all.join('\n');
  }

  it('has its values read once, however many errors it has and whoever tells of them', async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => [
      `field${String(at)}`,
      `Grace ${String(at)}`,
    ]);
    const { schema, reads } = counted(Object.fromEntries(names) as Record<string, unknown>);
    const told = await fail(schema, errors('Grace 17'));
    expect(told).not.toContain('Grace');
    expect(reads()).toBeGreaterThanOrEqual(2_000);
    expect(reads()).toBeLessThan(2_100);
  });

  it('is told without the texts of its errors where it has no end of values', async () => {
    let made = 0;
    const endless = (): object => ({
      get next() {
        made += 1;
        return endless();
      },
    });
    const value = endless();
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => ({ value }) } };
    const told = await fail(schema, new Error('no Grace'));
    expect(told).toContain('[withheld');
    expect(told).not.toContain('Grace');
    expect(made).toBeLessThanOrEqual(50_001);
  });
});
