import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { createTestReceiver, deferred, STARTED } from '../support.ts';
import { useLateClock } from '../late-clock.ts';
import { slow } from './slow-receiver.ts';

describe('close() beside slow handlers and stores', () => {
  useLateClock();

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

  it('close() refuses what the store has not admitted yet', async () => {
    const store = memoryStore();
    const admitted = deferred();
    const admit: typeof store.admit = async (claim) => {
      await admitted.promise;
      return store.admit(claim);
    };
    const { receiver, send, signals, outcomes } = slow({ store: { ...store, admit } });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 0 });
    await jest.advanceTimersByTimeAsync(1);
    await closing;
    admitted.resolve();
    expect(await sent).toBe('shutting-down');
    expect(outcomes[0]?.error?.message).toContain('closed before the handler started');
    expect(signals).toEqual([]);
  });

  it('close() aborts handlers after its grace period, and releases their leases', async () => {
    const store = memoryStore();
    const { receiver, send, signals, work, outcomes } = slow({ store });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1);
    const closing = receiver.close({ graceMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(signals[0]?.reason).toMatchObject({
      code: 'shutting-down',
      message: expect.stringContaining('The receiver is closing.'),
    });
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
