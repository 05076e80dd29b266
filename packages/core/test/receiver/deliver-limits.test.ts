import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  type DeadLetter,
  type HandlerContext,
  type QueuedDelivery,
} from '../../src/index.ts';
import { bytes, createTestReceiver, deferred, NOW, STARTED } from '../support.ts';

const KEY = 'call-1:call:started';

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
    expect((signals[0]?.reason as Error).message).toContain('The caller of deliver() aborted it.');
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

  it('leaves nothing behind: its place is free, and nobody listens to the signal', async () => {
    const { receiver } = createTestReceiver({
      on: { 'call:started': () => new Promise(setImmediate) },
      maxInFlight: 1,
    });
    const { signal } = new AbortController();
    for (const callId of ['a', 'b'])
      expect((await receiver.deliver({ ...STARTED, callId }, { signal })).outcome).toBe('handled');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

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

  it('knows an event by its webhook id, where the profile does', async () => {
    const handle = jest.fn();
    const on = { 'call:started': handle };
    const { receiver } = createTestReceiver({ on, profile: 'standard-webhooks' });
    const letter = { rawBody: bytes('{"eventName":"call:started"}'), webhookId: 'msg_1' };
    expect(await receiver.deliver(letter)).toMatchObject({ key: 'webhook-id:msg_1' });
    expect((await receiver.deliver(letter)).outcome).toBe('duplicate');
    expect(handle).toHaveBeenCalledTimes(1);
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
      message: expect.stringContaining('the store has no reopen()'),
    });
    const reconciled = await without.receiver.deliver(STARTED, { source: 'reconcile' });
    expect(reconciled.outcome).toBe('handled');
  });
});
