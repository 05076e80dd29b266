import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type HandlerContext } from '../../src/index.ts';
import { createTestReceiver, deferred, delivery, NOW, STARTED } from '../support.ts';

describe('timeouts', () => {
  beforeEach(() => void jest.useFakeTimers({ now: NOW }));
  afterEach(() => void jest.useRealTimers());

  function slow(options: object = {}) {
    const work = deferred();
    const signals: AbortSignal[] = [];
    const made = createTestReceiver({
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

  it('at the deadline the response is 503, a late success is committed, and the retry is a duplicate', async () => {
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

  it('the option waitUntil is for requests that bring none, as those of node:http', async () => {
    const kept: string[] = [];
    const { send, receiver } = slow({ waitUntil: () => void kept.push('option') });
    const first = send(STARTED);
    await jest.advanceTimersByTimeAsync(20_010);
    expect([await first, ...kept]).toEqual(['deadline', 'option']);
    const request = {
      ...(await delivery({ ...STARTED, callId: 'call-2' })),
      waitUntil: () => void kept.push('request'),
    };
    const second = receiver.receive(request);
    await jest.advanceTimersByTimeAsync(20_010);
    expect((await second).outcome.outcome).toBe('deadline');
    expect(kept).toEqual(['option', 'request']);
  });

  it('a delivery that was handled in time is reported once, and its signal stays as it is', async () => {
    const { send, outcomes, work, signals } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_000);
    work.resolve();
    expect(await sent).toBe('handled');
    await jest.advanceTimersByTimeAsync(60_000);
    expect(outcomes).toHaveLength(1);
    expect(signals[0]?.aborted).toBe(false);
  });

  it('the deadline counts from the arrival of the request, not from the end of its body', async () => {
    const { receiver } = slow();
    const { body, ...request } = await delivery(STARTED);
    const slowBody = async () => {
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      return body;
    };
    const responded = receiver.receive({ ...request, body: slowBody });
    let code: string | undefined;
    void responded.then(({ outcome }) => (code = outcome.outcome));
    await jest.advanceTimersByTimeAsync(19_990);
    expect(code).toBeUndefined();
    await jest.advanceTimersByTimeAsync(20);
    expect(code).toBe('deadline');
  });

  it('a late failure is released and reported', async () => {
    const { send, outcomes, lines, work } = slow();
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(20_010);
    expect(await sent).toBe('deadline');
    work.reject(new Error('late'));
    await jest.advanceTimersByTimeAsync(1);
    expect(outcomes.at(-1)).toMatchObject({ outcome: 'handler-failed', late: true });
    expect(lines.at(-1)).toContain('late: true');
    expect(await send(STARTED)).toBe('handler-failed');
    expect(outcomes.at(-1)).toMatchObject({ attempt: 2 });
  });

  it('a slow handler keeps its lease for 240 s; then a retry runs, and the first run cannot commit', async () => {
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

  it('a delivery beyond maxInFlight is overloaded, until another one has ended', async () => {
    const { send, work } = slow({ maxInFlight: 2 });
    const inside = [send({ ...STARTED, callId: 'a' }), send({ ...STARTED, callId: 'b' })];
    await jest.advanceTimersByTimeAsync(1);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('overloaded');
    work.resolve();
    expect(await Promise.all(inside)).toEqual(['handled', 'handled']);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('handled');
  });

  it('close() accepts no deliveries, and waits for the handlers', async () => {
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
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1); // the scheduler's own, which is unref'd
  });

  it('close() aborts handlers after its grace period, and releases their leases', async () => {
    const store = memoryStore();
    const { receiver, send, signals, work, outcomes } = slow({ store });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(signals[0]?.reason).toMatchObject({ code: 'shutting-down' });
    const next = createTestReceiver({
      now: undefined,
      store,
      on: { 'call:started': () => undefined },
    });
    expect(await next.send(STARTED)).toBe('handled');
    expect(next.outcomes[0]?.attempt).toBe(2);
    work.resolve();
    expect(await sent).not.toBe('handled');
    expect(outcomes.at(-1)?.status).toBe(503);
  });
});
