import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as z from 'zod';
import {
  type DeadLetter,
  type ErrorInfo,
  memoryStore,
  type Outcome,
  type QueuedDelivery,
  type ReceiverOptions,
  type ReceiverRequest,
  type Store,
  WebhookError,
} from '../../src/index.ts';
import { STATUS } from '../../src/internal.ts';
import { bytes, createTestReceiver, delivery, STARTED } from '../support.ts';

const fail = () => {
  throw new Error('no');
};

describe('hostile hooks', () => {
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown) => void rejections.push(reason);
  beforeEach(() => void process.on('unhandledRejection', onRejection));
  afterEach(async () => {
    await new Promise((resolve) => setImmediate(resolve)); // Node tells of them after the microtasks
    process.off('unhandledRejection', onRejection);
    expect(rejections.splice(0)).toEqual([]);
  });
  const reject = () => Promise.reject(new Error('no'));
  const on = { 'call:started': () => undefined };

  it('a tenant that is named by a promise, which rejects, is answered 503 and ends no process', async () => {
    const { receiver } = createTestReceiver({
      ...{ tenant: reject as never, secret: () => undefined, on },
    });
    const answer = await receiver.receive(await delivery(STARTED));
    expect([answer.status, answer.outcome.outcome]).toEqual([503, 'secret-unavailable']);
  });

  describe('a store and a queue that return plain values instead of promises', () => {
    it('work like others', async () => {
      const seen = new Map<string, string>();
      const plain = {
        admit: ({ key = '' }) =>
          seen.has(key) ? { status: 'duplicate' } : { status: 'admitted', attempt: 1 },
        complete: (key: string) => Boolean(seen.set(key, 'done')),
        release: () => true,
        extend: () => true,
      } as unknown as Store;
      const { send } = createTestReceiver({ store: plain, on });
      expect([await send(STARTED), await send(STARTED)]).toEqual(['handled', 'duplicate']);

      const queued: QueuedDelivery[] = [];
      const enqueue = ((one: QueuedDelivery) => queued.push(one)) as never;
      expect(await createTestReceiver({ queue: { enqueue } }).send(STARTED)).toBe('queued');
      expect(queued).toHaveLength(1);
    });
  });

  describe('onOutcome', () => {
    it.each<[string, () => unknown]>([
      ['throws', fail],
      ['rejects', reject],
    ])('that %s changes no answer, and ends no process', async (_how, onOutcome) => {
      const { receiver } = createTestReceiver({ onOutcome: onOutcome, on });
      const answer = await receiver.receive(await delivery(STARTED));
      expect(answer).toMatchObject({ status: 200, body: '{"outcome":"handled"}' });
      expect((await receiver.receive({ headers: {}, body: bytes('') })).status).toBe(401);
    });

    it('that modifies its argument does not change the response', async () => {
      const onOutcome = (outcome: Outcome) =>
        void Object.assign(outcome, { outcome: 'x', status: 404 });
      const { receiver } = createTestReceiver({ onOutcome, on });
      expect(await receiver.receive(await delivery(STARTED))).toMatchObject({ status: 200 });
    });
  });

  describe('a logger', () => {
    it.each<[string, () => unknown]>([
      ['throws', fail],
      ['rejects', reject],
    ])('that %s changes no answer, and ends no process', async (_how, line) => {
      const logger = { warn: line, error: line };
      const { receiver, send } = createTestReceiver({ logger, on: { 'call:started': fail } });
      expect(await send(STARTED)).toBe('handler-failed');
      const log = { warn: line, error: line };
      expect((await receiver.receive({ headers: {}, body: bytes(''), log })).status).toBe(401);
    });
  });

  describe('custom payloads whose schema or key throws', () => {
    const validate = (value: unknown) => ({ value });
    const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } };
    const throwing = (how: () => never) => ({
      '~standard': { version: 1 as const, vendor: 'test', validate: how },
    });
    it.each<[string, object]>([
      ['a schema that throws', { schema: throwing(fail) }],
      ['a schema that rejects', { schema: throwing(reject as never) }],
      ['a key that throws', { schema, key: fail }],
      ['a key that is no text', { schema, key: () => 7 }],
    ])('%s: dead-lettered with deadLetter, 422 without', async (_what, custom) => {
      const handle = jest.fn();
      const deadLetters: DeadLetter[] = [];
      const options = { custom: { ...custom, handle } } as object;
      const kept = createTestReceiver({
        ...options,
        deadLetter: (letter) => void deadLetters.push(letter),
      });
      expect(await kept.send({ custom: 1 })).toBe('dead-lettered');
      expect(deadLetters).toHaveLength(1);
      expect(deadLetters[0]).toMatchObject({
        reason: 'invalid-payload',
        rawBody: bytes('{"custom":1}'),
      });
      expect(await createTestReceiver(options).send({ custom: 1 })).toBe('invalid-payload');
      expect(handle).not.toHaveBeenCalled();
    });
  });

  describe('receive never rejects, and responds from the outcome table', () => {
    it.each(['handled', 'invalid-options', 'of-another-version', 'constructor'])(
      'an error of a hook with the code %s, which is no failure',
      async (code) => {
        const error = Object.assign(new WebhookError('replayed', ''), { code });
        const request = { ...(await delivery(STARTED)), body: () => Promise.reject(error) };
        const answer = await createTestReceiver().receiver.receive(request);
        expect(answer).toMatchObject({ status: 500, outcome: { outcome: 'handler-failed' } });
      },
    );

    it.each<[string, object]>([
      ['no headers', { headers: undefined }],
      ['headers of null', { headers: null }],
      ['header values that are no text', { headers: { 'x-service-webhook-id': 7 } }],
      ['no body', { body: undefined }],
      ['a body reader that throws', { body: fail }],
      ['a method that is no text', { method: 7 }],
    ])('%s', async (_name, odd) => {
      const request = { ...(await delivery(STARTED)), ...odd } as ReceiverRequest;
      const answer = await createTestReceiver().receiver.receive(request);
      expect(STATUS).toHaveProperty(answer.outcome.outcome);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    });

    it.each([
      undefined,
      null,
      {},
      'ok',
      1,
      ['admitted', 1],
      { status: 'fine' },
      { status: 'constructor' },
      { status: 'group-busy' },
      { status: 'admitted' },
      { status: 'admitted', attempt: '1' },
      { STATUS: 'admitted', ATTEMPT: 1 },
    ])('a store whose admit gives %j is unavailable, and the log says why', async (nonsense) => {
      const handle = jest.fn();
      const store = { ...memoryStore(), admit: () => Promise.resolve(nonsense as never) };
      const { send, lines } = createTestReceiver({ store, on: { 'call:started': handle } });
      expect(await send(STARTED)).toBe('store-unavailable');
      expect(lines[0]).toContain('it returned an invalid answer to admit');
      expect(handle).not.toHaveBeenCalled();
    });

    it.each([undefined, null, 1, 'OK', [true]])(
      'a store whose complete gives %j is unavailable, and the log says why',
      async (nonsense) => {
        const store = { ...memoryStore(), complete: () => Promise.resolve(nonsense as never) };
        const on = { 'call:started': () => undefined };
        const { send, lines } = createTestReceiver({ store, on });
        expect(await send(STARTED)).toBe('store-unavailable');
        expect(lines[0]).toContain('it returned an invalid answer to complete');
      },
    );
  });

  describe('a handler that returns a thenable instead of a promise', () => {
    type Then = (resolve: (value?: unknown) => void, reject: (error: unknown) => void) => unknown;
    it.each<[string, string, Then]>([
      ['whose then gives nothing', 'handled', (resolve) => void setTimeout(resolve, 5)],
      [
        'that fails',
        'handler-failed',
        (_resolve, fails) => void setTimeout(fails, 5, new Error('no')),
      ],
      [
        'that comes to a promise that fails',
        'handler-failed',
        (resolve) => {
          resolve(reject());
        },
      ],
      ['whose then throws', 'handler-failed', fail],
    ])('%s, is waited for to its end', async (_name, outcome, then) => {
      const store = memoryStore();
      const { send } = createTestReceiver({ store, on: { 'call:started': () => ({ then }) } });
      expect(await send(STARTED)).toBe(outcome);
      expect(await send(STARTED)).toBe(outcome === 'handled' ? 'duplicate' : outcome);
    });
  });
});

const COMPLETED = { ...STARTED, eventName: 'call:completed' };

describe('hooks that throw', () => {
  it('do not change the response', async () => {
    const loud = { warn: fail, error: fail };
    const hooks = { logger: loud, onOutcome: fail };
    const { receiver } = createTestReceiver({
      ...hooks,
      on: { 'call:started': () => undefined, 'call:completed': fail },
    });
    const code = async (payload: unknown) =>
      (await receiver.receive(await delivery(payload))).outcome.outcome;
    expect(await code(STARTED)).toBe('handled');
    expect(await code(COMPLETED)).toBe('handler-failed');
    expect(await code(bytes('{'))).toBe('invalid-payload');
    expect((await receiver.receive({ headers: {}, body: new Uint8Array() })).status).toBe(401);
  });

  it('do not make receive reject', async () => {
    const clock = fail as unknown as () => number;
    const { receiver } = createTestReceiver({ now: clock, store: memoryStore() });
    expect((await receiver.receive(await delivery(STARTED))).status).toBe(500);
  });
});

type Options = Partial<ReceiverOptions<never, never>>;
const boom = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
const refuse = () => Promise.reject(boom);

/** A receiver, and what `onError` was called with. */
function setup(options: Options) {
  const errors: { error: unknown; info: ErrorInfo }[] = [];
  const onError = (error: unknown, info: ErrorInfo) => void errors.push({ error, info });
  return { errors, ...createTestReceiver({ onError, ...options }) };
}

const IDENTITY = { eventName: 'call:started', callId: 'call-1', key: 'call-1:call:started' };
const FLAGS = { lastAttempt: false, late: false, queued: false };

describe('onError', () => {
  it('gets what a handler threw, as it was thrown, on every failed attempt', async () => {
    const { errors, send, outcomes } = setup({ on: { 'call:started': refuse } });
    for (const webhookId of ['id-1', 'id-2'])
      expect(await send(STARTED, { webhookId })).toBe('handler-failed');
    const info = { code: 'handler-failed', source: 'handler', ...IDENTITY, ...FLAGS };
    expect(errors).toEqual([
      { error: boom, info: { ...info, webhookId: 'id-1', attempt: 1 } },
      { error: boom, info: { ...info, webhookId: 'id-2', attempt: 2 } },
    ]);
    expect(errors[0]?.error).toBe(boom);
    expect(outcomes[0]?.error).not.toHaveProperty('cause');
  });

  it('names the last attempt, and gets the error of deadLetter as well', async () => {
    const sinkError = new Error('disk full');
    const { errors, send, outcomes } = setup({
      on: { 'call:started': refuse },
      maxAttempts: 2,
      deadLetter: () => Promise.reject(sinkError),
    });
    await send(STARTED);
    await send(STARTED);
    expect(errors.map(({ error }) => error)).toEqual([boom, boom, sinkError]);
    expect(errors.map(({ info }) => [info.source, info.lastAttempt])).toEqual([
      ['handler', false],
      ['handler', true],
      ['dead-letter', true],
    ]);
    expect(outcomes.map(({ attemptsLeft }) => attemptsLeft)).toEqual([1, 0]);
  });

  it('gets the error of an event that deadLetter took', async () => {
    const { errors, send } = setup({
      on: { 'call:started': refuse },
      maxAttempts: 1,
      deadLetter: () => undefined,
    });
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(errors).toMatchObject([
      { error: boom, info: { code: 'dead-lettered', lastAttempt: true } },
    ]);
  });

  it('gets the issues of a schema as the cause, and what a schema threw', async () => {
    const schema = z.object({ customer: z.object({ name: z.string() }) });
    const { errors, send } = setup({
      custom: { schema: schema as never, handle: () => undefined },
    });
    expect(await send({ customer: { name: 7 } })).toBe('invalid-payload');
    expect(errors[0]?.info).toMatchObject({ source: 'schema', code: 'invalid-payload' });
    expect((errors[0]?.error as Error).cause).toMatchObject([{ path: ['customer', 'name'] }]);

    const throwing = { '~standard': { version: 1, vendor: 'x', validate: refuse } } as const;
    const second = setup({ custom: { schema: throwing as never, handle: () => undefined } });
    await second.send({});
    expect(second.errors).toMatchObject([{ error: boom, info: { source: 'schema' } }]);
  });

  it('gets what the parser threw, and what custom.key threw', async () => {
    const first = setup({ custom: { handle: () => undefined } });
    expect(await first.send(bytes('{'))).toBe('invalid-payload');
    expect(first.errors[0]?.error).toBeInstanceOf(SyntaxError);
    const key = () => {
      throw boom;
    };
    const second = setup({ custom: { key, handle: () => undefined } });
    await second.send({});
    expect(second.errors).toMatchObject([{ error: boom, info: { source: 'hook' } }]);
  });

  it('gets what a clock of yours threw, and the response says nothing of it', async () => {
    const now = () => {
      throw boom;
    };
    const { errors, receiver, outcomes } = setup({ now, store: memoryStore() });
    const answer = await receiver.receive(await delivery(STARTED));
    expect(answer.body).toBe('{"outcome":"handler-failed"}');
    expect(errors).toMatchObject([{ info: { source: 'hook', code: 'handler-failed' } }]);
    expect(errors[0]?.error).toBe(boom);
    expect(outcomes[0]?.error).toMatchObject({
      code: 'handler-failed',
      message: 'Unexpected error: TypeError: fetch failed; cause: Error: connect ECONNREFUSED',
    });
  });

  it('gets the errors of the store, of the queue and of the secret provider', async () => {
    const store = { ...memoryStore(), admit: refuse };
    const cases = [
      { options: { store }, source: 'store', code: 'store-unavailable' },
      { options: { queue: { enqueue: refuse } }, source: 'queue', code: 'store-unavailable' },
      { options: { secret: refuse }, source: 'secret', code: 'secret-unavailable' },
    ];
    for (const { options, source, code } of cases) {
      const { errors, send } = setup({ ...options, on: { 'call:started': () => undefined } });
      expect(await send(STARTED)).toBe(code);
      expect(errors).toMatchObject([{ error: boom, info: { source, code } }]);
    }
  });

  it('gets what onOutcome throws or rejects with, and never a second outcome for it', async () => {
    const errors: unknown[] = [];
    const onError = (error: unknown, { source }: ErrorInfo) => void errors.push([source, error]);
    for (const onOutcome of [
      refuse,
      () => {
        throw boom;
      },
    ]) {
      const { receiver } = createTestReceiver({ onError, onOutcome });
      expect((await receiver.receive(await delivery(STARTED))).status).toBe(200);
    }
    await Promise.resolve();
    expect(errors).toEqual([
      ['hook', boom],
      ['hook', boom],
    ]);
  });

  it('is told of nothing that strangers can cause', async () => {
    const { errors, receiver, send } = setup({});
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    await send(STARTED, { timestamp: 1 });
    await send(STARTED, { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' });
    expect(errors).toEqual([]);
  });

  it('says that an error came after the deadline', async () => {
    let fail = (_error: unknown): void => undefined;
    const handler = () => new Promise((_resolve, reject) => (fail = reject));
    const { errors, send, outcomes } = setup({ on: { 'call:started': handler }, ackWithin: 1 });
    expect(await send(STARTED)).toBe('deadline');
    fail(boom);
    while (outcomes.length < 2) await Promise.resolve();
    expect(errors).toMatchObject([{ error: boom, info: { late: true, code: 'handler-failed' } }]);
    expect(outcomes[1]).toMatchObject({ late: true, handlerMs: expect.any(Number) as unknown });
  });

  it('cannot change the response by throwing', async () => {
    const { send } = createTestReceiver({
      onError: () => {
        throw new Error('no');
      },
      on: { 'call:started': refuse },
    });
    expect(await send(STARTED)).toBe('handler-failed');
  });
});
