/* eslint-disable @typescript-eslint/prefer-promise-reject-errors -- handlers may throw anything */
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import {
  memoryStore,
  WebhookError,
  type HandlerContext,
  type Outcome,
  type Parked,
  type Queue,
  type QueuedDelivery,
  type Store,
} from '../src/index.ts';
import {
  bench,
  bytes,
  deferred,
  delivery,
  NOW,
  RECORDING,
  SECONDS,
  SECRET,
  STARTED,
} from './support.ts';

const COMPLETED = { ...STARTED, eventName: 'call:completed' };
const fail = () => {
  throw new Error('no');
};

describe('a delivery', () => {
  it('reaches the handler of its event, with its context', async () => {
    const seen: [unknown, HandlerContext][] = [];
    const { receiver, outcomes } = bench({
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
        status: 200,
        durationMs: expect.any(Number) as unknown as number,
        webhookId: 'id-1',
        eventName: 'call:started',
        callId: 'call-1',
        key: 'call-1:call:started',
        attempt: 1,
        secretId: 'main',
      },
    ]);
  });

  it('is handled once: again it is a replay, under a new id a duplicate', async () => {
    const handle = jest.fn();
    const { send } = bench({ on: { 'call:started': handle } });
    expect(await send(STARTED, { webhookId: 'a' })).toBe('handled');
    expect(await send(STARTED, { webhookId: 'a' })).toBe('replayed');
    expect(await send(STARTED, { webhookId: 'b' })).toBe('duplicate');
    expect(await send(COMPLETED)).toBe('ignored');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('posted 50 times at once under one id is accepted once', async () => {
    const handle = jest.fn();
    const { send } = bench({ on: { 'call:completed': handle } });
    const event = { eventName: 'call:completed' }; // without a key: only the id protects it
    const all = await Promise.all(
      Array.from({ length: 50 }, () => send(event, { webhookId: 'same' })),
    );
    expect(all.filter((code) => code === 'handled')).toHaveLength(1);
    expect(all.filter((code) => code === 'replayed')).toHaveLength(49);
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('under 50 ids at once runs its handler once', async () => {
    const gate = deferred();
    const handle = jest.fn(() => gate.promise);
    const { send } = bench({ on: { 'call:started': handle } });
    const sent = Array.from({ length: 50 }, async () => {
      const code = await send(STARTED);
      if (code === 'in-progress') gate.resolve();
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
    const { send, outcomes } = bench({ on: { 'call:completed': handle } });
    for (let i = 0; i < 2; i++) expect(await send({ eventName: 'call:completed' })).toBe('handled');
    expect(handle).toHaveBeenCalledTimes(2);
    expect(outcomes[0]).not.toHaveProperty('key');
  });

  it('that nobody handles is ignored, and told to onUnhandled', async () => {
    const onUnhandled = jest.fn();
    const { send } = bench({ onUnhandled });
    expect(await send({ eventName: 'call:new' })).toBe('ignored');
    expect(await send({ custom: 1 })).toBe('ignored');
    expect(onUnhandled.mock.calls.map(([event]) => event)).toEqual([
      { eventName: 'call:new' },
      { custom: 1 },
    ]);
  });

  it('of an event with duplicate JSON keys has the last one as key and as payload', async () => {
    const keys: unknown[] = [];
    const { send } = bench({
      on: {
        'call:started': (event: { callId: string }, { key }: HandlerContext) =>
          void keys.push(key, event.callId),
      },
    });
    await send(bytes('{"eventName":"call:started","callId":"one","callId":"two"}'));
    expect(keys).toEqual(['two:call:started', 'two']);
  });
});

describe('what is refused', () => {
  it('runs no handler, and leaves no trace in the store', async () => {
    const store = memoryStore();
    const admit = jest.fn(store.admit);
    const handle = jest.fn();
    const { receiver } = bench({
      store: { ...store, admit },
      on: { 'call:started': handle },
      bodyLimit: 1_000,
    });
    const good = await delivery(STARTED);
    const code = async (change: object) =>
      (await receiver.receive({ ...good, ...change })).outcome.outcome;
    const header = (name: string, value: string) => ({
      headers: { ...good.headers, [name]: value },
    });
    expect(await code({ headers: {} })).toBe('missing-header');
    expect(await code(header('X-Service-Timestamp', 'x'))).toBe('malformed-header');
    expect(await code(header('X-Service-Webhook-Id', 'other'))).toBe('signature-mismatch');
    expect(await code(await delivery(STARTED, { timestamp: SECONDS - 301 }))).toBe(
      'timestamp-out-of-tolerance',
    );
    expect(await code(await delivery(STARTED, { timestamp: SECONDS + 301 }))).toBe(
      'timestamp-out-of-tolerance',
    );
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await code({ method })).toBe('method-not-allowed');
    expect(await code({ body: new Uint8Array(1_001) })).toBe('body-too-large');
    expect(await code({ body: STARTED })).toBe('body-already-parsed');
    expect(await code({ body: JSON.stringify(STARTED) })).toBe('body-already-parsed');
    for (const encoding of ['gzip', 'br', 'identity, gzip'])
      expect(await code(header('content-encoding', encoding))).toBe('unsupported-encoding');
    expect(await code({ body: () => Promise.reject(new Error('socket closed')) })).toBe(
      'body-timeout',
    );
    expect(admit).not.toHaveBeenCalled();
    expect(handle).not.toHaveBeenCalled();
    expect(await code(header('content-encoding', 'identity'))).toBe('handled');
  });

  it('does not read the body of a wrong method', async () => {
    const body = jest.fn<() => Promise<Uint8Array>>();
    const answer = await bench().receiver.receive({ method: 'GET', headers: {}, body });
    expect(answer.headers['allow']).toBe('POST');
    expect(body).not.toHaveBeenCalled();
  });

  it('stamped 299 s ahead and replayed 598 s later stays out', async () => {
    const clock = { now: NOW };
    const { receiver } = bench({ now: () => clock.now });
    const request = await delivery({ eventName: 'call:completed' }, { timestamp: SECONDS + 299 });
    const codes: string[] = [];
    for (const later of [0, 1, 300, 598, 599, 600]) {
      clock.now = NOW + later * 1000;
      codes.push((await receiver.receive(request)).outcome.outcome);
    }
    expect(codes).toEqual([
      'ignored',
      'replayed',
      'replayed',
      'replayed',
      'replayed',
      'timestamp-out-of-tolerance',
    ]);
  });

  it('is an authentic body that can never be handled, without a dead letter', async () => {
    const { send } = bench();
    for (const body of [
      bytes('{'),
      Uint8Array.from([0xff]),
      bytes('['.repeat(10_000) + ']'.repeat(10_000)),
    ])
      expect(await send(body)).toBe('invalid-payload');
    expect(await send({ ...RECORDING, eventId: '' })).toBe('invalid-payload');
  });
});

describe('a handler that fails', () => {
  it('runs again on the retry, with its attempts counted', async () => {
    const attempts: number[] = [];
    const { send, outcomes } = bench({
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

  it('goes on failing when there is no dead letter', async () => {
    const { send } = bench({ on: { 'call:started': fail }, maxAttempts: 1 });
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('handler-failed');
  });

  it('gives the raw delivery to deadLetter after maxAttempts', async () => {
    const parked: Parked[] = [];
    const { send } = bench({
      on: { 'call:started': fail },
      maxAttempts: 2,
      deadLetter: (letter: Parked) => void parked.push(letter),
    });
    expect([
      await send(STARTED),
      await send(STARTED, { webhookId: 'last' }),
      await send(STARTED),
    ]).toEqual(['handler-failed', 'dead-lettered', 'duplicate']);
    expect(parked).toEqual([
      {
        reason: 'handler-failed',
        rawBody: bytes(JSON.stringify(STARTED)),
        webhookId: 'last',
        timestamp: new Date(NOW),
        eventName: 'call:started',
        key: 'call-1:call:started',
        attempt: 2,
        error: new Error('no'),
      },
    ]);
  });

  it('is retried when the sink fails too', async () => {
    const deadLetter = jest.fn(() => Promise.reject(new Error('disk full')));
    const { send, lines } = bench({
      on: { 'call:started': fail },
      maxAttempts: 1,
      deadLetter,
    });
    expect(await send(STARTED)).toBe('handler-failed');
    expect(lines.join()).toContain('the deadLetter sink failed: Error: disk full');
    deadLetter.mockResolvedValue(undefined as never);
    expect(await send(STARTED)).toBe('dead-lettered');
  });

  it('is not run once more when its process died in every attempt', async () => {
    const clock = { now: NOW };
    const store = memoryStore({ now: () => clock.now });
    for (const token of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await store.admit({
        webhookId: token,
        token,
        key: 'call-1:call:started',
        leaseMs: 1_000,
        replayUntil: NOW + 1_000,
      });
      clock.now += 1_000;
    }
    const handle = jest.fn();
    const parked: Parked[] = [];
    const { send } = bench({
      store,
      on: { 'call:started': handle },
      maxAttempts: 2,
      deadLetter: (letter: Parked) => void parked.push(letter),
    });
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(handle).not.toHaveBeenCalled();
    expect(parked[0]).toMatchObject({ attempt: 7, reason: 'handler-failed' });
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
    const { send } = bench({
      on: { 'call:started': () => Promise.reject(thrown.pop()) },
    });
    for (let left = thrown.length; left > 0; left--)
      expect(await send(STARTED)).toBe('handler-failed');
  });

  it('and a payload that can never be handled go to deadLetter at once', async () => {
    const parked: Parked[] = [];
    const deadLetter = jest.fn((letter: Parked) => void parked.push(letter));
    const { send, lines } = bench({ deadLetter });
    expect(await send(bytes('{'))).toBe('dead-lettered');
    expect(parked[0]).toMatchObject({
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

describe('custom payloads', () => {
  it('are checked, keyed and handled', async () => {
    const handle = jest.fn();
    const custom = {
      schema: z.object({ id: z.string(), n: z.coerce.number() }),
      key: (p: { id: string }) => p.id,
      handle,
    };
    const { send, outcomes } = bench({ custom } as never);
    expect(await send({ id: 'x', n: '5' })).toBe('handled');
    expect(await send({ id: 'x', n: '5' })).toBe('duplicate');
    expect(await send({ n: 5 })).toBe('invalid-payload');
    expect(handle).toHaveBeenCalledTimes(1);
    expect(handle.mock.calls[0]?.[0]).toEqual({ id: 'x', n: 5 });
    expect(outcomes[0]?.key).toBe('custom:x');
  });
});

describe('a queue', () => {
  it('gets the raw bytes, and the service 202', async () => {
    const queued: QueuedDelivery[] = [];
    const handle = jest.fn();
    const queue = { enqueue: (job: QueuedDelivery) => Promise.resolve(void queued.push(job)) };
    const { receiver } = bench({ queue, on: { 'call:started': handle } });
    const request = await delivery(STARTED, { webhookId: 'id-1' });
    expect((await receiver.receive(request)).status).toBe(202);
    expect(queued).toEqual([
      {
        webhookId: 'id-1',
        timestamp: SECONDS,
        receivedAt: NOW,
        key: 'call-1:call:started',
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
    const { send } = bench({ queue: { enqueue }, deadLetter, maxAttempts: 1 });
    for (let i = 0; i < 3; i++) expect(await send(STARTED)).toBe('store-unavailable');
    expect(deadLetter).not.toHaveBeenCalled();
    enqueue.mockResolvedValue(undefined);
    expect(await send(STARTED)).toBe('queued');
  });
});

describe('a store that is down', () => {
  it.each<[string, Store['admit']]>([
    ['rejects', () => Promise.reject(new Error('redis://user:hunter2@host is away'))],
    ['throws', fail],
  ])('and %s: nothing runs, 503', async (_how, admit) => {
    const handle = jest.fn();
    const { send, lines } = bench({
      store: { ...memoryStore(), admit },
      on: { 'call:started': handle },
    });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(handle).not.toHaveBeenCalled();
    expect(lines.join()).not.toContain('hunter2');
  });

  it('at the commit: 503, and the lease is left to run out', async () => {
    const { send } = bench({
      store: { ...memoryStore(), complete: () => Promise.reject(new Error('x')) },
      on: { 'call:started': () => undefined },
    });
    expect(await send(STARTED)).toBe('store-unavailable');
    expect(await send(STARTED)).toBe('in-progress');
  });

  it('at the commit, with the lease lost: 503 in-progress', async () => {
    const { send } = bench({
      store: { ...memoryStore(), complete: () => Promise.resolve(false) },
      on: { 'call:started': () => undefined },
    });
    expect(await send(STARTED)).toBe('in-progress');
  });

  it('at the release: still 500', async () => {
    const { send } = bench({
      store: { ...memoryStore(), release: () => Promise.reject(new Error('x')) },
      on: { 'call:started': fail },
    });
    expect(await send(STARTED)).toBe('handler-failed');
  });
});

describe('in time', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  function slow(options: object = {}) {
    const work = deferred();
    const signals: AbortSignal[] = [];
    const made = bench({
      now: undefined,
      on: {
        'call:started': (_event: unknown, { signal }: HandlerContext) => {
          signals.push(signal);
          return work.promise;
        },
      },
      ...options,
    });
    return { ...made, work, signals };
  }

  it('the deadline is answered 503, the late success committed, and the retry a duplicate', async () => {
    const { receiver, send, outcomes, work, signals } = slow();
    const kept: Promise<unknown>[] = [];
    const request = {
      ...(await delivery(STARTED)),
      waitUntil: (late: Promise<unknown>) => void kept.push(late),
    };
    const answer = receiver.receive(request);
    await jest.advanceTimersByTimeAsync(19_990);
    expect(outcomes).toEqual([]);
    await jest.advanceTimersByTimeAsync(20);
    expect(await answer).toMatchObject({
      status: 503,
      outcome: { outcome: 'deadline', attempt: 1 },
    });
    expect(signals[0]?.aborted).toBe(true);
    expect(kept).toHaveLength(1);
    expect(await send(STARTED)).toBe('in-progress');
    work.resolve();
    await kept[0];
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'handled', status: 200, late: true });
    expect(await send(STARTED)).toBe('duplicate');
  });

  it('a late failure is released and reported', async () => {
    const { send, outcomes, lines, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(20_010);
    expect(await sent).toBe('deadline');
    work.reject(new Error('late'));
    await jest.advanceTimersByTimeAsync(1);
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'handler-failed', late: true });
    expect(lines.at(-1)).toContain('after its deadline');
    expect(await send(STARTED)).toBe('handler-failed');
    expect(outcomes.at(-1)).toMatchObject({ attempt: 2 });
  });

  it('the lease of a slow handler is kept to 240 s, then a retry runs it, and the zombie can not commit', async () => {
    const { send, outcomes, work, signals } = slow({ ackWithin: 1_000 });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await sent).toBe('deadline');
    await jest.advanceTimersByTimeAsync(230_000);
    const early = await send(STARTED, { timestamp: Math.floor(Date.now() / 1000) });
    expect(early).toBe('in-progress');
    await jest.advanceTimersByTimeAsync(10_000);
    const retry = send(STARTED, { timestamp: Math.floor(Date.now() / 1000) });
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await retry).toBe('deadline');
    expect(signals).toHaveLength(2);
    work.resolve();
    await jest.advanceTimersByTimeAsync(1);
    const late = outcomes
      .filter((outcome) => outcome.late)
      .map(({ outcome, attempt }) => [outcome, attempt]);
    expect(late).toEqual([
      ['in-progress', 1],
      ['handled', 2],
    ]);
  });

  it('a store that hangs means 503 in less than 2 s', async () => {
    const { send } = slow({
      store: { ...memoryStore(), admit: () => new Promise(() => undefined) },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await sent).toBe('store-unavailable');
  });

  it('a queue that hangs means 503', async () => {
    const { send } = slow({ queue: { enqueue: () => new Promise(() => undefined) } });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await sent).toBe('store-unavailable');
  });

  it('more than maxInFlight are overloaded, and there is room again when one is done', async () => {
    const { send, work } = slow({ maxInFlight: 2 });
    const inside = [send({ ...STARTED, callId: 'a' }), send({ ...STARTED, callId: 'b' })];
    await jest.advanceTimersByTimeAsync(1);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('overloaded');
    work.resolve();
    expect(await Promise.all(inside)).toEqual(['handled', 'handled']);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('handled');
  });

  it('close() lets nobody in, and waits for the handlers', async () => {
    const { receiver, send, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    let closed = false;
    const closing = receiver.close().then(() => (closed = true));
    expect(await send({ ...STARTED, callId: 'other' })).toBe('shutting-down');
    await jest.advanceTimersByTimeAsync(5_000);
    expect(closed).toBe(false);
    work.resolve();
    expect(await sent).toBe('handled');
    await closing;
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1); // the watch's own, which is unref'd
  });

  it('close() gives up after its grace: aborts, and gives the lease back', async () => {
    const store = memoryStore();
    const { receiver, send, signals, work, outcomes } = slow({ store });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(signals[0]?.reason).toMatchObject({ code: 'shutting-down' });
    const next = bench({ now: undefined, store, on: { 'call:started': () => undefined } });
    expect(await next.send(STARTED)).toBe('handled');
    expect(next.outcomes[0]?.attempt).toBe(2);
    work.resolve();
    expect(await sent).not.toBe('handled');
    expect(outcomes.at(-1)?.status).toBe(503);
  });
});

describe('personal data and secrets', () => {
  const PLANTED = {
    ...STARTED,
    toPhoneNumber: '+49 (30) 5550-1001',
    recipientEmail: 'ada.lovelace@example.test',
    recipientName: 'Ada Lovelace',
    nested: { note: ['Byron'] },
  };
  const TRACES = [
    '5550',
    '1001',
    'ada.lovelace',
    'Lovelace',
    'LOVELACE',
    'Byron',
    SECRET.slice(6),
    'hunter2',
  ];
  const message = `Ada Lovelace <ada.lovelace@example.test> LOVELACE +49 (30) 5550-1001 +493055501001 Byron ${SECRET} https://me:hunter2@crm.test`;

  const cases: [string, object, unknown][] = [
    [
      'a handler that quotes them',
      { on: { 'call:started': () => Promise.reject(new Error(message)) } },
      PLANTED,
    ],
    [
      'a handler that throws a text',
      { on: { 'call:started': () => Promise.reject(message) } },
      PLANTED,
    ],
    [
      'a handler with a cause',
      { on: { 'call:started': () => Promise.reject(new Error(message, { cause: PLANTED })) } },
      PLANTED,
    ],
    [
      'a sink that quotes them',
      {
        on: { 'call:started': fail },
        maxAttempts: 1,
        deadLetter: () => Promise.reject(new Error(message)),
      },
      PLANTED,
    ],
    ['a body that does not fit', {}, { ...PLANTED, callId: 5 }],
    ['a body that is not JSON', {}, bytes(message)],
    ['a body that is not JSON, and a sink', { deadLetter: () => undefined }, bytes(message)],
    ['a forged delivery', { secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD' }, PLANTED],
    ['a handled delivery', { on: { 'call:started': () => undefined } }, PLANTED],
  ];

  it.each(cases)(
    'of %s are in no log line, no outcome and no answer',
    async (_name, options, payload) => {
      const { receiver, outcomes, lines } = bench(options);
      const answer = await receiver.receive(await delivery(payload, { webhookId: 'an-id' }));
      const told = [
        ...lines,
        inspect(outcomes, { depth: 9, showHidden: true }),
        inspect(answer, { depth: 9 }),
        JSON.stringify(answer),
      ]
        .join('\n')
        .replace(/durationMs"?: ?[\d.e-]+/g, ''); // whose digits may be any
      expect(outcomes).toHaveLength(1);
      for (const trace of TRACES) expect(told).not.toContain(trace);
    },
  );
});

describe('hooks that throw', () => {
  it('change no answer', async () => {
    const loud = { warn: fail, error: fail };
    const hooks = { logger: loud, onOutcome: fail };
    const { receiver } = bench({
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

  it('make no rejection: receive always answers', async () => {
    const clock = fail as unknown as () => number;
    const { receiver } = bench({ now: clock, store: memoryStore() });
    expect((await receiver.receive(await delivery(STARTED))).status).toBe(500);
  });
});

describe('the logger of the request', () => {
  it('gets the lines instead of the receiver, and is in the context', async () => {
    const warn = jest.fn<(line: string) => void>();
    const log = { warn, error: jest.fn<(line: string) => void>() };
    const seen: unknown[] = [];
    const { receiver, lines } = bench({
      on: {
        'call:started': (_event: unknown, context: HandlerContext) => void seen.push(context.log),
      },
    });
    await receiver.receive({ ...(await delivery(STARTED)), log });
    await receiver.receive({ headers: {}, body: new Uint8Array(), log });
    expect(seen).toEqual([log]);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(lines).toEqual([]);
  });
});

describe('onOutcome', () => {
  it('is told of every request, refused ones too', async () => {
    const { receiver, outcomes } = bench();
    await receiver.receive({ headers: {}, body: new Uint8Array() });
    const { error, ...rest } = outcomes[0] as Outcome;
    expect(rest).toEqual({
      outcome: 'missing-header',
      status: 401,
      durationMs: expect.any(Number) as unknown as number,
    });
    expect(error).toBeInstanceOf(WebhookError);
  });
});
