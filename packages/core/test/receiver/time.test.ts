import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type Store } from '../../src/index.ts';
import { useLateClock } from '../late-clock.ts';
import { delivery, STARTED } from '../support.ts';
import { slow } from './slow-receiver.ts';

describe('timeouts', () => {
  useLateClock();

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
    expect(outcomes[0]?.error).toMatchObject({
      code: 'deadline',
      message: expect.stringContaining('The handler took longer than ackWithin (20000 ms).'),
    });
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

  it('a claim that is answered after the deadline is renewed while the handler runs', async () => {
    const inner = memoryStore();
    const admit: Store['admit'] = async (claim) => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return inner.admit(claim);
    };
    const store = { ...inner, admit };
    const { send, signals } = slow({ store, ackWithin: 1_000, storeTimeout: 2_000 });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(200_000);
    expect(await sent).toBe('deadline');
    const retried = send(STARTED, { timestamp: Math.floor(Date.now() / 1000) });
    await jest.advanceTimersByTimeAsync(1_500);
    expect(await retried).toBe('deadline');
    expect(signals).toHaveLength(1);
  });

  it('a lease begins with its claim: a late answer to that leaves time for a second renewal', async () => {
    const inner = memoryStore();
    const late = async <T>(answer: Promise<T>) => {
      await new Promise((resolve) => setTimeout(resolve, 9_500));
      return answer;
    };
    let renewals = 0;
    const store: Store = {
      ...inner,
      admit: (claim) => late(inner.admit(claim)),
      extend: (...given) =>
        renewals++ === 0 ? Promise.reject(new Error('reset')) : inner.extend(...given),
    };
    const { send, signals, work } = slow({ store, leaseFor: 15_000, storeTimeout: 10_000 });
    const other = slow({ store: inner, ackWithin: 1_000 });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(16_000);
    expect(signals).toHaveLength(1);
    const retried = other.send(STARTED);
    await jest.advanceTimersByTimeAsync(1_010);
    expect(await retried).toBe('in-progress');
    work.resolve();
    await jest.advanceTimersByTimeAsync(1);
    expect(await sent).toBe('handled');
  });

  it.each(['redrive', 'reconcile'] as const)(
    'a long lease is renewed for as long as the handler of a %s runs, which no response waits for',
    async (source) => {
      const { receiver, send, signals, work } = slow({ leaseFor: 60_000, ackWithin: 1_000 });
      const delivered = receiver.deliver(STARTED, { source });
      await jest.advanceTimersByTimeAsync(200_000);
      const sent = send(STARTED, { timestamp: Math.floor(Date.now() / 1_000) });
      await jest.advanceTimersByTimeAsync(1_010);
      expect(await sent).toBe('in-progress');
      work.resolve();
      expect(await delivered).toMatchObject({ outcome: 'handled' });
      expect(signals).toHaveLength(1);
    },
  );

  it('a delivery beyond maxInFlight is overloaded, until another one has ended', async () => {
    const { send, work } = slow({ maxInFlight: 2 });
    const inside = [send({ ...STARTED, callId: 'a' }), send({ ...STARTED, callId: 'b' })];
    await jest.advanceTimersByTimeAsync(1);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('overloaded');
    work.resolve();
    expect(await Promise.all(inside)).toEqual(['handled', 'handled']);
    expect(await send({ ...STARTED, callId: 'c' })).toBe('handled');
  });
});
