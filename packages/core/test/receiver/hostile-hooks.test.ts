import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  WebhookError,
  type Outcome,
  type DeadLetter,
  type QueuedDelivery,
  type ReceiverRequest,
  type Store,
} from '../../src/index.ts';
import { STATUS } from '../../src/internal.ts';
import { createTestReceiver, bytes, delivery, Lines, STARTED } from '../support.ts';

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);
beforeEach(() => void process.on('unhandledRejection', onRejection));
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve)); // Node tells of them after the microtasks
  process.off('unhandledRejection', onRejection);
  expect(rejections.splice(0)).toEqual([]);
});

const fail = () => {
  throw new Error('no');
};
const reject = () => Promise.reject(new Error('no'));
const on = { 'call:started': () => undefined };

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

  it.each([{}, { status: 'fine' }, { status: 'group-busy' }])(
    'a store that returns %j is unavailable, and the log says why',
    async (nonsense) => {
      const store = { ...memoryStore(), admit: () => Promise.resolve(nonsense as never) };
      const { send, lines } = createTestReceiver({ store });
      expect(await send(STARTED)).toBe('store-unavailable');
      expect(lines[0]).toContain('it returned an invalid answer to admit');
    },
  );

  it.each([undefined, {}, { status: 'fine' }, { status: 'constructor' }, 'ok'])(
    'a store that returns %j',
    async (nonsense) => {
      const logger = new Lines();
      const admit = () => Promise.resolve(nonsense as never);
      const handle = jest.fn();
      const store = { ...memoryStore(), admit };
      const { receiver } = createTestReceiver({ store, logger, on: { 'call:started': handle } });
      expect((await receiver.receive(await delivery(STARTED))).status).toBeGreaterThanOrEqual(500);
      expect(handle).not.toHaveBeenCalled();
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
