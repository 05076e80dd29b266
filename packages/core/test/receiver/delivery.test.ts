import { describe, expect, it, jest } from '@jest/globals';
import { WebhookError, type HandlerContext, type Outcome } from '../../src/index.ts';
import {
  createTestReceiver,
  bytes,
  deferred,
  delivery,
  NOW,
  SECONDS,
  SECRET,
  STARTED,
} from '../support.ts';

const COMPLETED = { ...STARTED, eventName: 'call:completed' };

describe('a delivery', () => {
  it('is passed to the handler of its event, with its context', async () => {
    const seen: [unknown, HandlerContext][] = [];
    const { receiver, outcomes } = createTestReceiver({
      secret: [{ id: 'main', secret: SECRET }],
      on: {
        'call:started': (event: unknown, context: HandlerContext) =>
          void seen.push([event, context]),
      },
      fieldNames: { calledNumber: 'dialed' },
    });
    const event = { ...STARTED, dialed: '+15550100', unknown: { deep: 1 } };
    const request = await delivery(event, { webhookId: 'id-1', timestamp: SECONDS - 7 });
    const answer = await receiver.receive(request);
    expect(answer).toMatchObject({ status: 200, body: '{"outcome":"handled"}' });
    const [received, context] = seen[0]!;
    expect(received).toEqual(event);
    expect(context).toMatchObject({
      webhookId: 'id-1',
      timestamp: new Date(NOW - 7_000),
      attempt: 1,
      key: 'call-1:call:started',
      secretId: 'main',
    });
    expect(context.rawBody).toEqual(request.body);
    expect(context.call.calledNumber).toBe('+15550100');
    expect(context.signal.aborted).toBe(false);
    expect(outcomes).toEqual([
      {
        outcome: 'handled',
        source: 'webhook',
        status: 200,
        durationMs: expect.any(Number) as unknown as number,
        handlerMs: expect.any(Number) as unknown as number,
        storeMs: expect.any(Number) as unknown as number,
        lagMs: 7_000,
        webhookId: 'id-1',
        eventName: 'call:started',
        callId: 'call-1',
        key: 'call-1:call:started',
        attempt: 1,
        secretId: 'main',
      },
    ]);
  });

  it('is handled once: the same id is a replay, a new id a duplicate', async () => {
    const handle = jest.fn();
    const { send } = createTestReceiver({ on: { 'call:started': handle } });
    expect(await send(STARTED, { webhookId: 'a' })).toBe('handled');
    expect(await send(STARTED, { webhookId: 'a' })).toBe('replayed');
    expect(await send(STARTED, { webhookId: 'b' })).toBe('duplicate');
    expect(await send(COMPLETED)).toBe('ignored');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('may be stamped 300 s early or late, and is a replay for as long as it would verify', async () => {
    let now = NOW;
    const on = { 'call:started': () => undefined };
    const { send } = createTestReceiver({ on, now: () => now });
    for (const ahead of [-301, 301])
      expect(await send(STARTED, { timestamp: SECONDS + ahead })).toBe(
        'timestamp-out-of-tolerance',
      );
    expect(await send(STARTED, { timestamp: SECONDS - 300 })).toBe('handled');
    const early = { webhookId: 'early', timestamp: SECONDS + 299 };
    expect(await send(STARTED, early)).toBe('duplicate');
    now += 598_000;
    expect(await send(STARTED, early)).toBe('replayed');
  });

  it('sent 50 times at once under one id is accepted once', async () => {
    const handle = jest.fn();
    const { send } = createTestReceiver({ on: { 'call:completed': handle } });
    const event = { eventName: 'call:completed' }; // without a key: only the id protects it
    const all = await Promise.all(
      Array.from({ length: 50 }, () => send(event, { webhookId: 'same' })),
    );
    expect(all.filter((code) => code === 'handled')).toHaveLength(1);
    expect(all.filter((code) => code === 'replayed')).toHaveLength(49);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('sent under 50 ids at once runs its handler once', async () => {
    const go = deferred();
    const handle = jest.fn(() => go.promise);
    const { send } = createTestReceiver({ on: { 'call:started': handle } });
    const sent = Array.from({ length: 50 }, async () => {
      const code = await send(STARTED);
      if (code === 'in-progress') go.resolve();
      return code;
    });
    const all = await Promise.all(sent);
    expect(all.filter((code) => code === 'handled')).toHaveLength(1);
    expect(all.filter((code) => code !== 'in-progress' && code !== 'duplicate')).toEqual([
      'handled',
    ]);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('without a key is handled every time, and the outcome has none', async () => {
    const handle = jest.fn();
    const { send, outcomes } = createTestReceiver({ on: { 'call:completed': handle } });
    for (let i = 0; i < 2; i++) expect(await send({ eventName: 'call:completed' })).toBe('handled');
    expect(handle).toHaveBeenCalledTimes(2);
    expect(outcomes[0]).not.toHaveProperty('key');
    expect(outcomes[0]).not.toHaveProperty('callId');
  });

  it('without a handler is ignored, and passed to onUnhandled', async () => {
    const onUnhandled = jest.fn();
    const { send } = createTestReceiver({ onUnhandled });
    expect(await send({ eventName: 'call:new' })).toBe('ignored');
    expect(await send({ custom: 1 })).toBe('ignored');
    const without = createTestReceiver();
    await without.send(STARTED);
    expect(without.outcomes[0]).not.toHaveProperty('handlerMs');
    expect(onUnhandled.mock.calls.map(([event]) => event)).toEqual([
      { eventName: 'call:new' },
      { custom: 1 },
    ]);
  });

  it('of an event with duplicate JSON keys has the last one as key and as payload', async () => {
    const keys: unknown[] = [];
    const { send } = createTestReceiver({
      on: {
        'call:started': (event: { callId: string }, { key }: HandlerContext) =>
          void keys.push(key, event.callId),
      },
    });
    await send(bytes('{"eventName":"call:started","callId":"one","callId":"two"}'));
    expect(keys).toEqual(['two:call:started', 'two']);
  });
});

describe('onOutcome', () => {
  it('is called for every request, also for refused ones', async () => {
    const { receiver, outcomes } = createTestReceiver();
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    const { error, ...rest } = outcomes[0] as Outcome;
    expect(rest).toEqual({
      outcome: 'missing-header',
      source: 'webhook',
      status: 401,
      durationMs: expect.any(Number) as unknown as number,
    });
    expect(error).toBeInstanceOf(WebhookError);
  });
});

describe('the logger of the request', () => {
  it('replaces the logger of the receiver, and is in the context', async () => {
    const line = () => jest.fn<(fields: object, message: string) => void>();
    const log = { debug: line(), info: line(), warn: line(), error: line(), child: () => log };
    const seen: unknown[] = [];
    const { receiver, lines } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, context: HandlerContext) => void seen.push(context.log),
      },
    });
    await receiver.receive({ ...(await delivery(STARTED)), log });
    await receiver.receive({ headers: {}, body: new Uint8Array(), log });
    expect(seen[0]).toBe(log);
    expect(log.warn).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([]);
  });
});
