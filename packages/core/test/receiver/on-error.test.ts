import { describe, expect, it } from '@jest/globals';
import * as z from 'zod';
import { memoryStore, type ErrorInfo, type ReceiverOptions } from '../../src/index.ts';
import { bytes, createTestReceiver, delivery, STARTED } from '../support.ts';

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
