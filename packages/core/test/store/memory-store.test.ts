import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createReceiver, memoryStore, type Store } from '../../src/index.ts';
import { deferred, delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';
import { setup } from './memory-store-setup.ts';

describe('memoryStore', () => {
  it('admits an event once, and remembers that it is done', async () => {
    const { store, admit } = setup();
    expect(await admit('k', 'a')).toEqual({ status: 'admitted', attempt: 1 });
    expect(await admit('k', 'b')).toEqual({ status: 'in-progress' });
    expect(await store.complete('k', 'a')).toBe(true);
    expect(await admit('k', 'c')).toEqual({ status: 'duplicate' });
    expect(await admit('other', 'd')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('counts the attempts of released and expired leases', async () => {
    const { clock, store, admit } = setup();
    await admit('k', 'a');
    expect(await store.release('k', 'a')).toBe(true);
    expect(await admit('k', 'b')).toEqual({ status: 'admitted', attempt: 2 });
    clock.now += 59_999;
    expect(await admit('k', 'c')).toEqual({ status: 'in-progress' });
    clock.now += 1;
    expect(await admit('k', 'd')).toEqual({ status: 'admitted', attempt: 3 });
  });

  it('treats a claim with the same token as the same claim', async () => {
    const { store, admit } = setup();
    await admit('k', 'a', 'same');
    expect(await admit('k', 'a', 'same')).toEqual({ status: 'admitted', attempt: 1 });
    expect(await admit('k', 'b', 'same')).toEqual({ status: 'replayed' });
    expect(await store.complete('k', 'a')).toBe(true);
  });

  it('refuses a wrong token and an expired lease, whose run counts as an attempt', async () => {
    const { clock, store, admit } = setup();
    await admit('k', 'a');
    for (const end of [store.complete, store.release])
      expect(await end('k', 'stranger')).toBe(false);
    expect(await store.extend('k', 'stranger', 60_000)).toBe(false);
    clock.now += 60_000;
    for (const end of [store.complete, store.release]) expect(await end('k', 'a')).toBe(false);
    expect(await store.extend('k', 'a', 60_000)).toBe(false);
    expect(await admit('k', 'b')).toEqual({ status: 'admitted', attempt: 2 });
    expect(await store.complete('k', 'a')).toBe(false);
    expect(await store.release('k', 'a')).toBe(false);
    expect(await admit('k', 'c')).toEqual({ status: 'in-progress' });
  });

  it('ends a lease once', async () => {
    const { store, admit } = setup();
    await admit('k', 'a');
    expect(await store.complete('k', 'a')).toBe(true);
    expect(await store.complete('k', 'a')).toBe(false);
    expect(await store.release('k', 'a')).toBe(false);
    expect(await admit('k', 'b')).toEqual({ status: 'duplicate' });
  });

  it('lets go of leases that ran out, also beside one that is renewed', async () => {
    const { clock, store, admit, evicted } = setup({ maxEntries: 2 });
    await admit('renewed', 'r');
    for (const key of ['a', 'b', 'c']) await admit(key, key);
    clock.now += 30_000;
    await store.extend('renewed', 'r', 240_000);
    clock.now += 30_000;
    await admit('later', 'l');
    expect(evicted.filter((kind) => kind === 'event')).toEqual(['event']);
  });

  it.each<[how: string, ask: (store: Store) => Promise<unknown>]>([
    ['by its holder', (store) => store.extend('one', 'a', 60_000)],
    ['by a status', (store) => store.peek!(['one'])],
  ])('frees the group of a lease that is found %s to have run out', async (_how, ask) => {
    const { clock, store } = setup();
    const claim = { webhookId: '', replayUntil: NOW, leaseMs: 60_000 };
    await store.admit({ ...claim, webhookId: 'a', key: 'one', token: 'a', group: 'g' });
    clock.now += 60_000;
    await ask(store);
    // The event runs again, outside of its group.
    await store.admit({ ...claim, webhookId: 'b', key: 'one', token: 'b' });
    const other = { ...claim, webhookId: 'c', key: 'two', token: 'c', group: 'g' };
    expect(await store.admit(other)).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('extends a lease from now, beyond leases that were taken later', async () => {
    const { clock, store, admit } = setup();
    await admit('one', 'a');
    await admit('two', 'b');
    clock.now += 20_000;
    expect(await store.extend('one', 'a', 60_000)).toBe(true);
    clock.now += 40_000;
    expect(await admit('two', 'c')).toEqual({ status: 'admitted', attempt: 2 });
    expect(await admit('one', 'd')).toEqual({ status: 'in-progress' });
    clock.now += 20_000;
    expect(await admit('one', 'e')).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('remembers a webhook id exactly as long as it has to', async () => {
    const { clock, evicted, admit } = setup();
    await admit(undefined, 'a', 'id');
    clock.now += 300_000;
    expect(await admit(undefined, 'b', 'id')).toEqual({ status: 'replayed' });
    clock.now += 1;
    expect(await admit(undefined, 'c', 'id')).toEqual({ status: 'admitted', attempt: 1 });
    expect(evicted).toEqual([]);
  });

  it('does not remember an id longer when it is replayed', async () => {
    const { clock, admit } = setup();
    await admit(undefined, 'a', 'id');
    for (let i = 0; i < 3; i++) {
      clock.now += 100_000;
      expect(await admit(undefined, `b${String(i)}`, 'id')).toEqual({ status: 'replayed' });
    }
    clock.now += 1;
    expect(await admit(undefined, 'c', 'id')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('takes no lease for a replay', async () => {
    const { admit } = setup();
    await admit(undefined, 'a', 'id');
    await admit('k', 'b', 'id');
    expect(await admit('k', 'c')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('knows a webhook id whose event has another key when it is replayed, or none', async () => {
    const { clock, store } = setup();
    const claim = (key: string | undefined, token: string) => ({
      ...{ webhookId: 'id', key, token },
      ...{ leaseMs: 60_000, replayUntil: clock.now + 300_000 },
    });
    expect(await store.admit(claim('one', 'a'))).toMatchObject({ status: 'admitted' });
    await store.complete('one', 'a');
    for (const key of ['one', 'two', undefined])
      expect(await store.admit(claim(key, 'b'))).toEqual({ status: 'replayed' });
  });

  it('forgets done events after rememberFor', async () => {
    const { clock, store, admit } = setup({ rememberFor: 600_000 });
    await admit('k', 'a');
    await store.complete('k', 'a');
    clock.now += 600_000;
    expect(await admit('k', 'b')).toEqual({ status: 'duplicate' });
    clock.now += 1;
    expect(await admit('k', 'c')).toEqual({ status: 'admitted', attempt: 1 });
  });

  it('refuses invalid options', () => {
    const invalid = { rememberFor: 599_999, maxEntries: 0, now: 5, onEvicted: 'warn' };
    for (const [name, value] of Object.entries(invalid))
      expect(() => memoryStore({ [name]: value })).toThrow(`of memoryStore: ${name}: `);
    for (const rememberFor of [NaN, Infinity])
      expect(() => memoryStore({ rememberFor })).toThrow('from 600000');
  });

  it('never evicts a live lease, and reports early evictions', async () => {
    const { evicted, store, admit } = setup({ maxEntries: 2 });
    for (const key of ['a', 'b', 'c', 'd']) await admit(key, key);
    expect(evicted).toEqual(['webhook-id', 'webhook-id']);
    for (const key of ['a', 'b', 'c', 'd']) {
      expect(await admit(key, 'late')).toEqual({ status: 'in-progress' });
      expect(await store.complete(key, key)).toBe(true);
    }
    expect(evicted.filter((kind) => kind === 'event')).toHaveLength(2);
    expect(await admit('d', 'again')).toEqual({ status: 'duplicate' });
  });

  it('continues when onEvicted throws', async () => {
    const onEvicted = () => {
      throw new Error('no');
    };
    const { admit } = setup({ maxEntries: 1, onEvicted });
    for (const id of ['a', 'b', 'c'])
      expect(await admit(undefined, id)).toMatchObject({ status: 'admitted' });
  });

  it('does not report evicting expired entries', async () => {
    const { clock, evicted, admit } = setup({ maxEntries: 2 });
    for (let i = 0; i < 10; i++) {
      await admit(undefined, String(i));
      clock.now += 300_001;
    }
    expect(evicted).toEqual([]);
  });

  it('works with a clock that starts at 0', async () => {
    const { clock, admit } = setup();
    clock.now = 0;
    await admit(undefined, 'a', 'id');
    clock.now = 299_999;
    expect(await admit(undefined, 'b', 'id')).toEqual({ status: 'replayed' });
  });
});

describe('a full memoryStore', () => {
  it('warns once by default, through its logger', async () => {
    const logger = new Lines();
    const store = memoryStore({ maxEntries: 1, now: () => NOW, logger });
    for (const webhookId of ['a', 'b', 'c'])
      await store.admit({ webhookId, token: webhookId, leaseMs: 1, replayUntil: NOW + 1_000 });
    expect(logger.entries).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(/maxEntries.* Durable Objects store/) as unknown,
        fields: { docs: expect.stringMatching(/stores\.html#memory$/) as unknown },
      },
    ]);
  });

  it('warns on the console without a logger', async () => {
    const warn = jest.spyOn(console, 'warn').mockReturnValue();
    const store = memoryStore({ maxEntries: 1, now: () => NOW });
    for (const webhookId of ['a', 'b'])
      await store.admit({ webhookId, token: webhookId, leaseMs: 1, replayUntil: NOW + 1_000 });
    expect(warn).toHaveBeenCalledTimes(1);
    warn.mockRestore();
  });

  it('counts leases that ran out among the events, whose number is bounded', async () => {
    const { clock, evicted, store, admit } = setup({ maxEntries: 1 });
    await admit('hangs', 'a');
    await admit('done', 'b');
    await store.complete('done', 'b');
    clock.now += 60_001;
    await admit('other', 'c');
    expect(evicted.filter((kind) => kind === 'event')).toHaveLength(1);
  });
});

describe('the leases of memoryStore', () => {
  it('expires leases of different lengths by the clock', async () => {
    let clock = 1_000_000;
    const store = memoryStore({ now: () => clock });
    const claim = (key: string, leaseMs: number) => ({
      webhookId: `w-${key}-${String(clock)}`,
      replayUntil: clock + 300_000,
      leaseMs,
      token: `t-${key}-${String(clock)}`,
      key,
    });
    await store.admit(claim('long', 60_000));
    const short = claim('short', 1_000);
    await store.admit(short);
    clock += 2_000;
    expect(await store.complete('short', short.token)).toBe(false);
    expect(await store.admit(claim('short', 1_000))).toEqual({ status: 'admitted', attempt: 2 });
  });

  it('frees a group whose lease ran out behind a longer one, and forgets it when it is done', async () => {
    const { clock, store } = setup();
    const claim = (key: string, leaseMs: number, group?: string) => ({
      ...{ webhookId: `w-${key}`, token: `t-${key}`, key, leaseMs, group },
      replayUntil: clock.now + 300_000,
    });
    await store.admit(claim('long', 60_000));
    await store.admit(claim('short', 1_000, 'call-1'));
    expect(await store.admit(claim('next', 1_000, 'call-1'))).toEqual({ status: 'group-busy' });
    clock.now += 2_000;
    const again = await store.admit({ ...claim('next', 1_000, 'call-1'), webhookId: 'w-again' });
    expect(again).toEqual({ status: 'admitted', attempt: 1 });
    const forget = jest.spyOn(Map.prototype, 'delete');
    await store.complete('next', 't-next');
    expect(forget).toHaveBeenCalledWith('call-1');
    forget.mockRestore();
  });
});

it('says how long it really remembers: not from before it was created, nor what it evicted', async () => {
  let now = NOW;
  const store = memoryStore({
    now: () => now,
    maxEntries: 2,
    rememberFor: 3_600_000,
    onEvicted: () => undefined,
  });
  const done = async (key: string) => {
    const claim = { webhookId: key, token: key, key, leaseMs: 60_000, replayUntil: now + 1_000 };
    expect(await store.admit(claim)).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store.complete(key, key)).toBe(true);
  };
  expect(store.rememberFor).toBe(0);
  now += 60_000;
  await done('a');
  now += 60_000;
  await done('b');
  expect(store.rememberFor).toBe(120_000);
  now += 60_000;
  await done('c'); // evicts a, which was done 120 s ago
  expect(store.rememberFor).toBe(120_000);
  now += 3_600_000;
  expect(store.rememberFor).toBe(3_600_000);
});

it.each([
  [{ maxEntries: NaN }, 'maxEntries: expected a whole number from 1 to 10000000'],
  [{ maxEntries: 0 }, 'maxEntries: expected'],
  [{ maxEntries: 1.5 }, 'maxEntries: expected'],
  [{ maxEntries: Infinity }, 'maxEntries: expected'],
  [{ maxEntries: 2e9 }, 'maxEntries: expected'],
  [{ rememberFor: Infinity }, 'rememberFor: expected whole milliseconds'],
  [{ rememberFor: 599_999 }, 'rememberFor: expected whole milliseconds'],
  [{ now: 1 as never }, 'now: expected a function'],
  [{ onEvicted: {} as never }, 'onEvicted: expected a function'],
  [{ maxEntrys: 5 } as never, 'memoryStore'],
])('memoryStore refuses %p', (options, message) => {
  expect(() => memoryStore(options)).toThrow(message);
  expect(() => memoryStore(options)).toThrow('Invalid options of memoryStore');
});

describe('when the wall clock is set', () => {
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
