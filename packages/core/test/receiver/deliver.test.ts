import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type DeadLetter, type HandlerContext } from '../../src/index.ts';
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
    for (let i = 0; i < 3; i++) expect((await receiver.deliver(delivery)).outcome).toBe('ignored');
    expect(await send(unknown, { webhookId: 'w-1' })).toBe('ignored');
    expect(await send(unknown, { webhookId: 'w-1' })).toBe('replayed');
    expect((await receiver.deliver(delivery)).outcome).toBe('ignored');
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
