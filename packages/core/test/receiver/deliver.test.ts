import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import {
  type DeadLetter,
  type HandlerContext,
  memoryStore,
  type OutcomeCode,
  type QueuedDelivery,
} from '../../src/index.ts';
import { bytes, createTestReceiver, deferred, NOW, STARTED } from '../support.ts';

const KEY = 'call-1:call:started';

const fail = () => {
  throw new Error('no');
};

/** A receiver whose handler fails until `fix()`, and its dead letters. */
function failing(options: object = {}) {
  const letters: DeadLetter[] = [];
  let works = false;
  const handle = jest.fn((_event: unknown, _context: HandlerContext) => {
    if (!works) throw new Error('no');
  });
  const made = createTestReceiver({
    on: { 'call:started': handle },
    maxAttempts: 2,
    deadLetter: (letter: DeadLetter) => void letters.push(letter),
    ...options,
  });
  const fix = () => (works = true);
  const die = async () => {
    expect(await made.send(STARTED)).toBe('handler-failed');
    expect(await made.send(STARTED, { webhookId: 'last' })).toBe('dead-lettered');
    return letters[0]!;
  };
  return { ...made, letters, handle, fix, die };
}

describe('deliver', () => {
  it.each(['rawBody', 'bytes', 'history', 'webhookId', 'attempt', 'tenant', 'id'])(
    'runs an event that has a field of a dead letter by chance: %s',
    async (name) => {
      const events: object[] = [];
      const { receiver } = createTestReceiver({
        on: { 'call:started': (event: object) => void events.push(event) },
      });
      const event = { ...STARTED, [name]: 7 };
      expect(await receiver.deliver(event)).toMatchObject({ outcome: 'handled', attempt: 1 });
      expect(events).toEqual([event]);
    },
  );

  it('runs raw bytes, a raw delivery and an event, each with its context', async () => {
    const contexts: HandlerContext[] = [];
    const { receiver, outcomes } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, context: HandlerContext) => void contexts.push(context),
      },
    });
    const started = (callId: string) => ({ ...STARTED, callId });
    const raw = bytes(`${JSON.stringify(started('a'))} `);
    const timestamp = new Date(NOW - 90_000);
    await receiver.deliver(raw);
    await receiver.deliver(
      { rawBody: bytes(JSON.stringify(started('b'))), webhookId: 'w-1', timestamp, attempt: 3 },
      { source: 'redrive' },
    );
    const last = await receiver.deliver(started('c'), { source: 'reconcile' });
    expect(last).toMatchObject({ outcome: 'handled', status: 200, key: 'c:call:started' });
    expect(contexts[0]!.rawBody).toEqual(raw);
    expect(contexts).toMatchObject([
      { source: 'redrive', key: 'a:call:started', attempt: 1, timestamp: new Date(NOW) },
      { source: 'redrive', webhookId: 'w-1', attempt: 4, timestamp, receivedAt: new Date(NOW) },
      { source: 'reconcile', body: started('c'), queued: false, secretId: undefined },
    ]);
    expect(contexts[0]!.webhookId).toMatch(/^redrive-[\da-f-]{36}$/);
    expect(contexts[2]!.webhookId).toMatch(/^reconcile-/);
    expect(outcomes.map(({ source }) => source)).toEqual(['redrive', 'redrive', 'reconcile']);
  });

  it('shares keys and leases with the deliveries of the service', async () => {
    const gate = deferred();
    const handle = jest.fn(() => gate.promise);
    const { receiver, send } = createTestReceiver({ on: { 'call:started': handle } });
    const first = receiver.deliver(STARTED);
    await new Promise(setImmediate);
    expect(await send(STARTED)).toBe('in-progress');
    expect((await receiver.deliver(STARTED)).outcome).toBe('in-progress');
    gate.resolve();
    expect((await first).outcome).toBe('handled');
    expect(await send(STARTED)).toBe('duplicate');
    expect((await receiver.deliver(STARTED)).outcome).toBe('duplicate');
    expect((await receiver.deliver(STARTED, { source: 'reconcile' })).outcome).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it('is no replay, and makes no replay of a delivery of the service', async () => {
    const { receiver, send } = createTestReceiver({ onUnhandled: () => undefined });
    const unknown = { eventName: 'call:moved' };
    const delivery = { rawBody: bytes(JSON.stringify(unknown)), webhookId: 'w-1' };
    for (let i = 0; i < 3; i++) expect((await receiver.deliver(delivery)).outcome).toBe('handled');
    expect(await send(unknown, { webhookId: 'w-1' })).toBe('handled');
    expect(await send(unknown, { webhookId: 'w-1' })).toBe('replayed');
    expect((await receiver.deliver(delivery)).outcome).toBe('handled');
  });

  it('runs a dead letter again, which the service and reconciling do not', async () => {
    const { receiver, send, die, fix, handle } = failing();
    const letter = await die();
    fix();
    expect(await send(STARTED)).toBe('in-dead-letters');
    const reconciled = await receiver.deliver(letter, { source: 'reconcile' });
    expect(reconciled).toMatchObject({ outcome: 'in-dead-letters', status: 200 });
    expect(handle).toHaveBeenCalledTimes(2);
    expect(await receiver.deliver(letter)).toMatchObject({ outcome: 'handled', attempt: 3 });
    expect(handle.mock.lastCall![1]).toMatchObject({ webhookId: 'last', source: 'redrive' });
    expect(await send(STARTED)).toBe('duplicate');
    expect((await receiver.deliver(letter)).outcome).toBe('duplicate');
  });

  it('makes a second failure a dead letter again, at once', async () => {
    const { receiver, send, die, letters, outcomes } = failing();
    const outcome = await receiver.deliver({ ...(await die()), id: 'letter-1' });
    expect(outcome).toMatchObject({ outcome: 'dead-lettered', attempt: 3, attemptsLeft: 0 });
    expect(outcome.error).toMatchObject({ code: 'handler-failed' });
    expect(letters[1]).toMatchObject({ id: 'letter-1', source: 'redrive', attempt: 3, key: KEY });
    expect(await send(STARTED)).toBe('in-dead-letters');
    expect(outcomes.map(({ source }) => source)).toEqual([
      ...['webhook', 'webhook', 'redrive', 'webhook'],
    ]);
  });

  it('makes the first failure of a redriven event final, whatever maxAttempts is', async () => {
    const { receiver, letters } = failing();
    expect((await receiver.deliver(STARTED)).outcome).toBe('dead-lettered');
    expect(letters).toHaveLength(1);
  });

  it('runs a dead letter again, however often it was run before', async () => {
    const { receiver, fix } = failing();
    fix();
    const letter = { rawBody: bytes(JSON.stringify(STARTED)), attempt: 100 };
    expect(await receiver.deliver(letter)).toMatchObject({ outcome: 'handled', attempt: 101 });
  });

  it('reopens no event that has no key', async () => {
    const store = memoryStore();
    const reopen = jest.spyOn(store, 'reopen');
    const { receiver } = createTestReceiver({ store });
    await receiver.deliver({ eventName: 'call:started' });
    expect(reopen).not.toHaveBeenCalled();
  });

  it('says so when nobody takes a redriven event that failed', async () => {
    const without = createTestReceiver({ on: { 'call:started': fail } });
    const outcome = await without.receiver.deliver(STARTED);
    expect(outcome).toMatchObject({ outcome: 'handler-failed', status: 500 });
    expect(without.lines.join()).toMatch(/500 handler-failed[^]*source: 'redrive'/);
    expect(without.lines.join()).toContain("retriedBy: 'nobody'");

    const full = failing({ deadLetter: () => Promise.reject(new Error('disk full')) });
    expect((await full.receiver.deliver(STARTED)).outcome).toBe('handler-failed');
    full.fix();
    expect((await full.receiver.deliver(STARTED)).outcome).toBe('handled');
  });

  it('counts the attempts of a reconciled event, as of one of the service', async () => {
    const { receiver, letters, lines } = failing();
    const reconcile = async () =>
      (await receiver.deliver(STARTED, { source: 'reconcile' })).outcome;
    expect(await reconcile()).toBe('handler-failed');
    expect(letters).toEqual([]);
    expect(lines.join()).toContain("retriedBy: 'reconciler'");
    lines.length = 0;
    expect(await reconcile()).toBe('dead-lettered');
    expect(lines.join()).toContain("retriedBy: 'nobody'");
    expect(letters[0]).toMatchObject({ source: 'reconcile', attempt: 2 });
    expect(await reconcile()).toBe('in-dead-letters');
  });

  it('counts the attempts of what can never be handled', async () => {
    const { receiver, letters } = failing();
    const invalid = { rawBody: bytes('{'), attempt: 1 };
    expect(await receiver.deliver(invalid)).toMatchObject({ outcome: 'dead-lettered', attempt: 2 });
    expect(letters).toMatchObject([{ reason: 'invalid-payload', attempt: 2 }]);
  });

  it('runs a redriven event however often its process died in it', async () => {
    const clock = { now: NOW };
    const store = memoryStore({ now: () => clock.now });
    for (let died = 0; died < 20; died++) {
      const token = `token-${String(died)}`;
      const claim = { webhookId: token, token, key: KEY, leaseMs: 1_000, replayUntil: NOW };
      await store.admit(claim);
      clock.now += 1_001;
    }
    const { receiver, send, fix, handle } = failing({ store });
    fix();
    expect(await send(STARTED)).toBe('dead-lettered');
    expect(handle).not.toHaveBeenCalled();
    expect((await receiver.deliver(STARTED)).outcome).toBe('handled');
  });
});

describe('deliver: limits and odd inputs', () => {
  it('has no deadline', async () => {
    const { receiver, send } = createTestReceiver({
      on: { 'call:started': () => new Promise((resolve) => setTimeout(resolve, 30)) },
      ackWithin: 1,
    });
    expect((await receiver.deliver({ ...STARTED, callId: 'other' })).outcome).toBe('handled');
    expect(await send(STARTED)).toBe('deadline');
    await receiver.close();
  });

  it('respects the limits, and a receiver that closes', async () => {
    const gate = deferred();
    const { receiver } = createTestReceiver({
      on: { 'call:started': () => gate.promise },
      maxInFlight: 1,
      bodyLimit: 1_000,
    });
    const large = { ...STARTED, note: 'x'.repeat(1_000) };
    const refused = await receiver.deliver(large);
    expect(refused.outcome).toBe('body-too-large');
    expect(refused.error?.message).toContain(
      `The body has ${String(JSON.stringify(large).length)} bytes.`,
    );
    const exact = { note: 'x'.repeat(1_000 - '{"note":""}'.length) };
    expect((await receiver.deliver(exact)).outcome).toBe('ignored');
    const running = receiver.deliver(STARTED);
    expect(await receiver.health()).toMatchObject({ ok: false, overloaded: true });
    expect((await receiver.deliver({ ...STARTED, callId: 'b' })).outcome).toBe('overloaded');
    const closing = receiver.close();
    expect((await receiver.deliver(STARTED)).outcome).toBe('shutting-down');
    gate.resolve();
    await closing;
    expect((await running).outcome).toBe('handled');
  });

  it('is aborted by its signal, and given up when the receiver closes', async () => {
    const store = memoryStore();
    const signals: AbortSignal[] = [];
    const wait = (_event: unknown, { signal }: HandlerContext) =>
      new Promise((_resolve, reject) => {
        signals.push(signal);
        const end = () => {
          reject(new Error('aborted'));
        };
        if (signal.aborted) end();
        signal.addEventListener('abort', end);
      });
    const { receiver } = createTestReceiver({ store, on: { 'call:started': wait } });
    const controller = new AbortController();
    const aborted = receiver.deliver(STARTED, { signal: controller.signal });
    await new Promise(setImmediate);
    expect(signals[0]?.aborted).toBe(false);
    controller.abort();
    expect((await aborted).outcome).toBe('handler-failed');
    expect((signals[0]?.reason as Error).message).toContain(
      'The caller of deliver() aborted the run.',
    );
    const alreadyAborted = receiver.deliver(STARTED, { signal: controller.signal });
    expect((await alreadyAborted).outcome).toBe('handler-failed');

    const abandoned = receiver.deliver(STARTED);
    await new Promise(setImmediate);
    await receiver.close({ graceMs: 0 });
    expect((await abandoned).outcome).toBe('handler-failed');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    const next = createTestReceiver({ store, on: { 'call:started': () => undefined } });
    expect((await next.receiver.deliver(STARTED)).outcome).toBe('handled');
  });

  it.each<[OutcomeCode, Parameters<typeof createTestReceiver>[0], object?]>([
    ['handled', {}],
    ['ignored', { on: { 'call:completed': () => undefined } }],
    ['handler-failed', { on: { 'call:started': () => Promise.reject(new Error('down')) } }],
    ['invalid-payload', {}, { rawBody: bytes('no JSON') }],
    [
      'store-unavailable',
      { store: { ...memoryStore(), admit: () => Promise.reject(new Error('down')) } },
    ],
    [
      'store-unavailable',
      { store: { ...memoryStore(), complete: () => Promise.reject(new Error('down')) } },
    ],
    ['queued', { queue: { enqueue: () => Promise.resolve() } }],
    ['store-unavailable', { queue: { enqueue: () => Promise.reject(new Error('down')) } }],
  ])(
    'leaves nothing behind once it is %s: its place is free, and nobody listens to the signal',
    async (...row) => {
      const [outcome, options, input = {}] = row;
      const { receiver } = createTestReceiver({
        on: { 'call:started': () => new Promise(setImmediate) },
        maxInFlight: 1,
        ...options,
      });
      const { signal } = new AbortController();
      for (const callId of ['a', 'b']) {
        const event =
          'rawBody' in input
            ? { ...input, webhookId: callId, timestamp: new Date(NOW) }
            : { ...STARTED, callId };
        expect((await receiver.deliver(event as typeof STARTED, { signal })).outcome).toBe(outcome);
      }
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    },
  );

  it('enqueues where there is a queue', async () => {
    const queued: QueuedDelivery[] = [];
    const enqueue = (delivery: QueuedDelivery) => Promise.resolve(void queued.push(delivery));
    const { receiver } = createTestReceiver({ queue: { enqueue } });
    expect(await receiver.deliver(STARTED)).toMatchObject({ outcome: 'queued', status: 202 });
    expect(queued).toMatchObject([{ key: KEY, eventName: 'call:started', receivedAt: NOW }]);
  });

  it('takes a payload that is invalid as such', async () => {
    const letters: DeadLetter[] = [];
    const kept = createTestReceiver({
      deadLetter: (letter: DeadLetter) => void letters.push(letter),
    });
    expect((await kept.receiver.deliver(bytes('{'))).outcome).toBe('dead-lettered');
    const again = await kept.receiver.deliver({ ...letters[0]!, id: 'letter-1' });
    expect(again.outcome).toBe('dead-lettered');
    expect(letters[1]).toMatchObject({ id: 'letter-1', reason: 'invalid-payload' });
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const { receiver } = createTestReceiver();
    const refused = await receiver.deliver(circular);
    expect(refused.outcome).toBe('invalid-payload');
    expect(refused.error?.message).toContain('the event cannot be written as JSON');
    const notBytes = new Uint16Array(1) as unknown as Record<string, unknown>;
    expect((await receiver.deliver(notBytes)).outcome).toBe('ignored'); // an object like others
    expect((await receiver.deliver(bytes('{'))).outcome).toBe('invalid-payload');
  });

  it('refuses what makes no sense', async () => {
    const { receiver } = createTestReceiver();
    const wrong = { code: 'invalid-options' };
    const source = 'webhook' as 'redrive';
    const text = receiver.deliver('{}' as never);
    await expect(text).rejects.toMatchObject(wrong);
    await expect(text).rejects.toThrow('expected raw bytes, a raw delivery, a dead letter or');
    const odd = receiver.deliver(STARTED, { source });
    await expect(odd).rejects.toMatchObject(wrong);
    await expect(odd).rejects.toThrow("source: expected 'redrive' or 'reconcile'");
    await expect(receiver.deliver(null as never)).rejects.toMatchObject(wrong);

    const { reopen: _reopen, ...old } = memoryStore();
    const without = createTestReceiver({ store: old, on: { 'call:started': () => undefined } });
    await expect(without.receiver.deliver(STARTED)).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining('it has no reopen()'),
    });
    const reconciled = await without.receiver.deliver(STARTED, { source: 'reconcile' });
    expect(reconciled.outcome).toBe('handled');
  });
});
