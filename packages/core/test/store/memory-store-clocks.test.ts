import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, memoryStore, type Store } from '../../src/index.ts';
import { deferred, delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

// Jest's clock: `setSystemTime` sets the wall clock alone, as an administrator or NTP does;
// `advanceTimersByTime` lets time pass on both clocks.
beforeEach(() => void jest.useFakeTimers({ now: NOW, doNotFake: ['setImmediate', 'nextTick'] }));
afterEach(() => void jest.useRealTimers());

let count = 0;
function admit(store: Store, key: string, token: string) {
  const webhookId = `id-${++count}`;
  const replayUntil = Date.now() + 10 * MINUTE;
  return store.admit({ webhookId, token, key, leaseMs: MINUTE, replayUntil });
}

describe('when the wall clock is set', () => {
  it('forward by 61 s, a lease stays with its owner', async () => {
    const store = memoryStore();
    await admit(store, 'event', 'owner');
    jest.setSystemTime(NOW + 61_000);
    expect(await admit(store, 'event', 'other')).toEqual({ status: 'in-progress' });
    expect(await store.extend('event', 'owner', MINUTE)).toBe(true);
    expect(await store.complete('event', 'owner')).toBe(true);
  });

  it('back by an hour, the lease of a dead handler expires as usual', async () => {
    const store = memoryStore();
    await admit(store, 'event', 'dead');
    jest.setSystemTime(NOW - 60 * MINUTE);
    jest.advanceTimersByTime(MINUTE);
    expect(await admit(store, 'event', 'next')).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store.complete('event', 'dead')).toBe(false);
  });

  it.each([3 * DAY, -3 * DAY])('by %p ms, done events are known for rememberFor', async (by) => {
    const store = memoryStore({ rememberFor: DAY });
    await admit(store, 'event', 'owner');
    await store.complete('event', 'owner');
    jest.setSystemTime(NOW + by);
    jest.advanceTimersByTime(DAY - 10);
    expect(await admit(store, 'event', 'other')).toEqual({ status: 'duplicate' });
    jest.advanceTimersByTime(20);
    expect(await admit(store, 'event', 'other')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('webhook ids follow it, as the timestamps of their signatures do', async () => {
    const store = memoryStore();
    const again = (token: string, now: number) =>
      store.admit({ webhookId: 'id', token, leaseMs: MINUTE, replayUntil: now + 10 * MINUTE });
    await again('first', NOW);
    jest.setSystemTime(NOW - 60 * MINUTE);
    expect(await again('second', NOW - 60 * MINUTE)).toEqual({ status: 'replayed' });
    jest.setSystemTime(NOW + 11 * MINUTE);
    expect(await again('third', NOW + 11 * MINUTE)).toMatchObject({ status: 'admitted' });
  });

  it('back by a day, the webhook id of an event that is forgotten is still known', async () => {
    const store = memoryStore({ rememberFor: 10 * MINUTE });
    const again = (token: string) =>
      store.admit({
        ...{ webhookId: 'id', key: 'event', isKeyOfBody: true, token },
        ...{ leaseMs: MINUTE, replayUntil: NOW + 10 * MINUTE },
      });
    await again('first');
    await store.complete('event', 'first');
    jest.advanceTimersByTime(9 * MINUTE);
    jest.setSystemTime(NOW - DAY);
    jest.advanceTimersByTime(2 * MINUTE);
    expect(await again('second')).toEqual({ status: 'replayed' });
    expect(await admit(store, 'event', 'third')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('a receiver with the default store does not run an event twice at once', async () => {
    const running = deferred();
    const handle = jest.fn(() => running.promise);
    const receiver = createReceiver({
      secret: SECRET,
      on: { 'call:started': handle },
      logger: new Lines(),
    });
    const now = () => ({ timestamp: Math.floor(Date.now() / 1000) });
    const first = receiver.receive(await delivery(STARTED, now()));
    jest.setSystemTime(NOW + 61_000);
    const second = await receiver.receive(await delivery(STARTED, now()));
    expect(second.outcome.outcome).toBe('in-progress');
    running.resolve();
    expect((await first).outcome.outcome).toBe('handled');
    expect(handle).toHaveBeenCalledTimes(1);
  });
});
