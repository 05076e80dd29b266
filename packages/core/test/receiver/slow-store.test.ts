import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { STARTED } from '../support.ts';
import { useLateClock } from '../late-clock.ts';
import { slow } from './slow-receiver.ts';

describe('a slow store or queue', () => {
  useLateClock();

  it('at the deadline, a store that has not answered yet is no reason to fail', async () => {
    const { send } = slow({
      ackWithin: 500,
      store: { ...memoryStore(), admit: () => new Promise(() => undefined) },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(510);
    expect(await sent).toBe('deadline');
    await jest.advanceTimersByTimeAsync(1_000);
  });

  it('the time of the handler and that of the store are told apart', async () => {
    const store = memoryStore();
    const later = async <Result>(result: Result) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return result;
    };
    const { send, outcomes, work } = slow({
      store: {
        ...store,
        admit: async (claim: Parameters<typeof store.admit>[0]) => later(await store.admit(claim)),
        complete: async (...args: Parameters<typeof store.complete>) =>
          later(await store.complete(...args)),
      },
    });
    const sent = send(STARTED);
    await jest.advanceTimersByTimeAsync(1_100);
    work.resolve();
    await jest.advanceTimersByTimeAsync(100);
    expect(await sent).toBe('handled');
    expect(outcomes[0]).toMatchObject({ handlerMs: 1_000, storeMs: 200, durationMs: 1_200 });
  });

  it('a lease that is lost aborts the handler', async () => {
    const store = { ...memoryStore(), extend: () => Promise.resolve(false) };
    const { send, signals } = slow({ store, leaseFor: 30_000 });
    void send(STARTED);
    await jest.advanceTimersByTimeAsync(10_010);
    expect(signals[0]?.reason).toMatchObject({ code: 'in-progress' });
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
});
