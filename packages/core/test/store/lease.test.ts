import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Store } from '../../src/index.ts';
import { Lease, newToken, StoreCalls } from '../../src/store/lease.ts';
import { Deadlines } from '../../src/time.ts';

beforeEach(() => {
  jest.useFakeTimers();
  jest.advanceTimersByTime(1_000_000); // so that no time is 0
});
afterEach(() => void jest.useRealTimers());

function setup(
  { leaseMs, key }: { leaseMs: number; key: string | undefined } = { leaseMs: 60_000, key: 'k' },
) {
  const store = {
    admit: jest.fn<Store['admit']>(() => Promise.resolve({ status: 'duplicate' })),
    completeIn: jest.fn<(tx: unknown, key: string, token: string) => boolean>(() => true),
    complete: jest.fn<Store['complete']>(() => Promise.resolve(true)),
    release: jest.fn<Store['release']>(() => Promise.resolve(true)),
    extend: jest.fn<Store['extend']>(() => Promise.resolve(true)),
  };
  const start = performance.now();
  const renewals: { at: number; until: number }[] = [];
  store.extend.mockImplementation((_key, _token, ms) => {
    const at = Math.round(performance.now() - start);
    renewals.push({ at, until: Math.round(at + ms) });
    return Promise.resolve(true);
  });
  const onLost = jest.fn();
  const claim = { webhookId: 'w', replayUntil: 0, key, token: 't', leaseMs };
  const deadlines = new Deadlines();
  const calls = new StoreCalls(store, deadlines, 1_000);
  const lease = new Lease(calls, deadlines, claim, onLost);
  lease.keep();
  return { store, lease, onLost, renewals };
}

describe('Lease', () => {
  it('is renewed every third of leaseFor for up to 240 s, and is then lost', async () => {
    const { renewals, onLost } = setup();
    await jest.advanceTimersByTimeAsync(239_000);
    expect(onLost).not.toHaveBeenCalled();
    expect(renewals.map(({ at }) => Math.round(at / 1000))).toEqual([
      20, 40, 60, 80, 100, 120, 140, 160, 180, 200, 220,
    ]);
    for (const { at, until } of renewals)
      expect(Math.abs(until - Math.min(at + 60_000, 240_000))).toBeLessThan(2);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    await jest.advanceTimersByTimeAsync(600_000);
    expect(renewals).toHaveLength(11);
  });

  it('is not renewed after it was completed or released', async () => {
    const completed = setup();
    expect(await completed.lease.complete()).toBe(true);
    expect(completed.store.complete).toHaveBeenCalledWith('k', 't', undefined);
    const given = setup();
    await given.lease.release();
    expect(given.store.release).toHaveBeenCalledWith('k', 't');
    for (const { lease, store } of [completed, given]) {
      lease.keep();
      await jest.advanceTimersByTimeAsync(300_000);
      expect(store.extend).not.toHaveBeenCalled();
    }
  });

  it('expires by itself when the store fails to release it', async () => {
    const { lease, store } = setup();
    store.release.mockRejectedValue(new Error('away'));
    await expect(lease.release()).resolves.toBeUndefined();
  });

  it('reports once that it was lost, and stops', async () => {
    const { store, onLost } = setup();
    store.extend.mockResolvedValue(false);
    await jest.advanceTimersByTimeAsync(300_000);
    expect(onLost).toHaveBeenCalledTimes(1);
    expect(store.extend).toHaveBeenCalledTimes(1);
  });

  it('is not reported as lost by a renewal that arrives after its end', async () => {
    const { store, lease, onLost } = setup();
    let renewed!: (held: boolean) => void;
    store.extend.mockReturnValueOnce(new Promise((resolve) => (renewed = resolve)));
    await jest.advanceTimersByTimeAsync(20_001);
    expect(await lease.complete()).toBe(true);
    renewed(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(onLost).not.toHaveBeenCalled();
  });

  it('is not reported as lost by a renewal that a transaction of the user overtook', async () => {
    const { store, lease, onLost } = setup();
    store.extend.mockResolvedValue(false);
    expect(lease.completeIn('tx')).toBe(true);
    expect(store.completeIn).toHaveBeenCalledWith('tx', 'k', 't');
    await jest.advanceTimersByTimeAsync(45_000);
    expect(store.extend).toHaveBeenCalledTimes(2);
    expect(onLost).not.toHaveBeenCalled();
    expect(await lease.transactionEnd()).toBe('committed');
    expect(await lease.complete()).toBe(true);
    await lease.release();
    expect(store.complete).not.toHaveBeenCalled();
    expect(store.release).not.toHaveBeenCalled();
  });

  it('is renewed after a transaction of the user was rolled back', async () => {
    const { store, lease } = setup();
    void lease.completeIn('tx');
    store.admit.mockResolvedValue({ status: 'admitted', attempt: 1 });
    expect(await lease.transactionEnd()).toBe('rolled-back');
    await jest.advanceTimersByTimeAsync(20_001);
    expect(store.extend).toHaveBeenCalledTimes(1);
  });

  it('that another delivery has is lost, and not renewed', async () => {
    const { store, lease } = setup();
    void lease.completeIn('tx');
    store.admit.mockResolvedValue({ status: 'in-progress' });
    expect(await lease.transactionEnd()).toBe('lost');
    await jest.advanceTimersByTimeAsync(300_000);
    expect(store.extend).not.toHaveBeenCalled();
  });

  it('has a token that no other process makes', () => {
    const [one, two] = [newToken(), newToken()];
    expect(one).toMatch(/^[A-Za-z0-9+/]{16}-[0-9a-z]+$/);
    expect(two).not.toBe(one);
  });

  it('is not renewed after the store could not tell how a transaction ended', async () => {
    const { store, lease } = setup();
    void lease.completeIn('tx');
    store.admit.mockRejectedValue(new Error('away'));
    await expect(lease.transactionEnd()).rejects.toThrow('away');
    await jest.advanceTimersByTimeAsync(300_000);
    expect(store.extend).not.toHaveBeenCalled();
  });

  it('is renewed again after a renewal failed', async () => {
    const { store, onLost } = setup();
    store.extend.mockRejectedValueOnce(new Error('away'));
    await jest.advanceTimersByTimeAsync(45_000);
    expect(store.extend).toHaveBeenCalledTimes(2);
    expect(onLost).not.toHaveBeenCalled();
  });

  it('returns what the store returns', async () => {
    const { store, lease } = setup();
    store.complete.mockResolvedValue(false);
    expect(await lease.complete()).toBe(false);
  });

  it('without a key always holds, and never calls the store', async () => {
    const { store, lease } = setup({ leaseMs: 60_000, key: undefined });
    await jest.advanceTimersByTimeAsync(300_000);
    expect(await lease.complete()).toBe(true);
    await lease.release();
    expect(() => lease.completeIn('tx')).toThrow('no key');
    for (const call of Object.values(store)) expect(call).not.toHaveBeenCalled();
  });
});
