import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
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

  it('refuses a wrong token and an expired lease', async () => {
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
