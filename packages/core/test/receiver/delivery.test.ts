import { describe, expect, it, jest } from '@jest/globals';
import { collectingLogger } from '@call-webhooks/contract-tests';
import { z } from 'zod';
import {
  type DeadLetter,
  type HandlerContext,
  memoryStore,
  type Outcome,
  type Queue,
  type QueuedDelivery,
  type Store,
  WebhookError,
} from '../../src/index.ts';
import {
  bytes,
  createTestReceiver,
  createWorkerHandler,
  deferred,
  delivery,
  Lines,
  NOW,
  OTHER_SECRET,
  SECONDS,
  SECRET,
  STARTED,
} from '../support.ts';

const COMPLETED = { ...STARTED, eventName: 'call:completed' };

describe('a delivery', () => {
  it.each([
    ['redrive', 'redrive-1', 'nobody'],
    ['reconcile', 'reconcile-1', 'reconciler'],
    ['webhook', 'of-a-redrive-1', 'service'],
  ])(
    'of the source %s, by its id, is counted, logged and kept as such',
    async (source, id, retriedBy) => {
      const logger = new Lines();
      const { send, outcomes } = createTestReceiver({
        logger,
        on: { 'call:started': () => Promise.reject(new Error('no')) },
      });
      expect(await send(STARTED, { webhookId: id })).toBe('handler-failed');
      expect(outcomes).toMatchObject([{ source, webhookId: id }]);
      expect(logger.entries).toMatchObject([{ fields: { retriedBy } }]);
      const letters: DeadLetter[] = [];
      const last = createTestReceiver({
        ...{ maxAttempts: 1, deadLetter: (letter: DeadLetter) => void letters.push(letter) },
        on: { 'call:started': () => Promise.reject(new Error('no')) },
      });
      expect(await last.send(STARTED, { webhookId: id })).toBe('dead-lettered');
      expect(letters).toMatchObject([{ source, webhookId: id, attempt: 1 }]);
    },
  );

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

  it.each([
    [7, 7_400],
    [0, 400],
    [-1, 0], // the clock of the service is ahead
    [-200, 0],
  ])('that was signed %d s ago has a lag of %d ms', async (seconds, lagMs) => {
    const { send, outcomes } = createTestReceiver({ now: () => NOW + 400 });
    await send(STARTED, { timestamp: SECONDS - seconds });
    expect(outcomes).toMatchObject([{ outcome: 'ignored', lagMs }]);
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

  it('without another handler is handled by onUnhandled', async () => {
    const onUnhandled = jest.fn();
    const { send, lines, outcomes } = createTestReceiver({ onUnhandled });
    expect(await send({ eventName: 'call:new' })).toBe('handled');
    expect(await send({ custom: 1 })).toBe('handled');
    expect(outcomes).toMatchObject([
      { outcome: 'handled', handlerMs: expect.any(Number) as unknown },
      { outcome: 'handled', handlerMs: expect.any(Number) as unknown },
    ]);
    expect(lines).toEqual([]);
    expect(onUnhandled.mock.calls.map(([event]) => event)).toEqual([
      { eventName: 'call:new' },
      { custom: 1 },
    ]);
  });

  it('without any handler is ignored, and its name is logged once', async () => {
    const logger = new Lines();
    const { send, outcomes } = createTestReceiver({ logger });
    const forged = { secret: OTHER_SECRET };
    expect(await send({ eventName: 'call:forged' }, forged)).toBe('signature-mismatch');
    for (const payload of [
      STARTED,
      STARTED,
      { custom: 1 },
      { custom: 2 },
      { eventName: 'call:new' },
    ])
      expect(await send(payload)).toBe('ignored');
    expect(outcomes[1]).not.toHaveProperty('handlerMs');
    const { entries } = logger;
    expect(entries.slice(1).map(({ level, message }) => `${level} ${message}`)).toEqual([
      expect.stringContaining(
        'warn call-webhooks: there is no handler for the event "call:started"',
      ),
      expect.stringContaining('there is no handler for a payload without eventName'),
      expect.stringContaining('there is no handler for the event "call:new"'),
    ]);
    expect(entries[1]!.fields).toMatchObject({ eventName: 'call:started', callId: 'call-1' });
  });

  it('of many names without a handler fills neither the log nor the memory', async () => {
    const logger = new Lines();
    const { send } = createTestReceiver({ logger });
    await send({ eventName: `call:${'x'.repeat(100_000)}` });
    for (let at = 0; at < 150; at++) await send({ eventName: `call:kind-${String(at)}` });
    expect(logger.entries).toHaveLength(100);
    expect(logger.entries.at(-1)!.message).toContain('Further names are not logged.');
    expect(Math.max(...logger.all.map(({ length }) => length))).toBeLessThan(2_000);
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

describe('custom payloads', () => {
  it('are checked, keyed and handled', async () => {
    const handle = jest.fn();
    const custom = {
      schema: z.object({ id: z.string(), n: z.coerce.number() }),
      key: (p: { id: string }) => p.id,
      handle,
    };
    const { send, outcomes } = createTestReceiver({ custom } as never);
    expect(await send({ id: 'x', n: '5' })).toBe('handled');
    expect(await send({ id: 'x', n: '5' })).toBe('duplicate');
    expect(await send({ n: 5 })).toBe('invalid-payload');
    expect(handle).toHaveBeenCalledTimes(1);
    expect(handle.mock.calls[0]?.[0]).toEqual({ id: 'x', n: 5 });
    expect(outcomes[0]?.key).toBe('custom:x');
  });
});

describe('a payload that does not match its schema', () => {
  const options = {
    events: { 'call:voicemail': z.object({ seconds: z.number() }) },
    on: { 'call:voicemail': () => undefined },
  } as never;
  const event = { eventName: 'call:voicemail', seconds: 'seven' };
  const issues = [{ path: 'seconds', code: 'invalid_type' }];

  it('is told with its event and its issues in the log and the outcome', async () => {
    const { send, outcomes, lines } = createTestReceiver(options);
    expect(await send(event)).toBe('invalid-payload');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
    expect(lines[0]).toContain('does not match its schema: seconds: ');
    expect(lines[0]).toContain("eventName: 'call:voicemail'");
    expect(lines[0]).not.toContain('seven');
  });

  it('reaches the dead letters of receivers and workers with them', async () => {
    const expected = { reason: 'invalid-payload', eventName: 'call:voicemail', error: { issues } };
    const deadLetter = jest.fn<(letter: DeadLetter) => void>();
    const { send, outcomes, lines } = createTestReceiver({ ...(options as object), deadLetter });
    expect(await send(event)).toBe('dead-lettered');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
    expect(lines[0]).toContain('does not match its schema: seconds: ');
    const work = createWorkerHandler({
      ...(options as object),
      deadLetter,
      logger: collectingLogger(),
    });
    const body = Buffer.from(JSON.stringify(event)).toString('base64');
    await expect(
      work({ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body }),
    ).rejects.toMatchObject({ code: 'invalid-payload' });
    for (const [letter] of deadLetter.mock.calls) expect(letter).toMatchObject(expected);
    expect(deadLetter).toHaveBeenCalledTimes(2);
  });

  it('is told with its issues when the dead-letter sink fails as well', async () => {
    const deadLetter = () => Promise.reject(new Error('disk full'));
    const { send, outcomes } = createTestReceiver({ ...(options as object), deadLetter });
    expect(await send(event)).toBe('invalid-payload');
    expect(outcomes[0]).toMatchObject({ eventName: 'call:voicemail', error: { issues } });
  });
});

describe('a queue', () => {
  it('gets the raw bytes, and the response is 202', async () => {
    const queued: QueuedDelivery[] = [];
    const handle = jest.fn();
    const queue = { enqueue: (job: QueuedDelivery) => Promise.resolve(void queued.push(job)) };
    const { receiver } = createTestReceiver({ queue, on: { 'call:started': handle } });
    const request = await delivery(STARTED, { webhookId: 'id-1' });
    expect((await receiver.receive(request)).status).toBe(202);
    expect(queued).toEqual([
      {
        webhookId: 'id-1',
        timestamp: SECONDS,
        receivedAt: NOW,
        key: 'call-1:call:started',
        callId: 'call-1',
        eventName: 'call:started',
        body: Buffer.from(request.body).toString('base64'),
      },
    ]);
    expect(handle).not.toHaveBeenCalled();
    expect((await receiver.receive(await delivery(STARTED))).outcome.outcome).toBe('duplicate');
    expect(queued).toHaveLength(1);
  });

  it('that fails means 503, never a dead letter, and the retry is queued', async () => {
    const enqueue = jest.fn<Queue['enqueue']>(() => Promise.reject(new Error('no connection')));
    const deadLetter = jest.fn();
    const options = { queue: { enqueue }, deadLetter };
    const { send, outcomes } = createTestReceiver(options);
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('store-unavailable');
    expect(outcomes[0]).not.toHaveProperty('attemptsLeft');
    expect(deadLetter).not.toHaveBeenCalled();
    enqueue.mockResolvedValue(undefined);
    expect(await send(STARTED)).toBe('queued');
    expect(outcomes.at(-1)).not.toHaveProperty('handlerMs');
  });

  it('that fails leaves the event free before the response says so, also in a slow store', async () => {
    const memory = memoryStore();
    const store: Store = {
      ...memory,
      async release(key, token) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return memory.release(key, token);
      },
    };
    const enqueue = () => Promise.reject(new Error('no connection'));
    const { send, outcomes } = createTestReceiver({ store, queue: { enqueue } });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(await memory.peek?.([outcomes[0]?.key ?? ''])).toEqual(['failed']);
  });
});
