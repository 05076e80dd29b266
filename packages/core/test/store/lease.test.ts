import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { anyCharacter } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import type { Store } from '../../src/index.ts';
import { Lease, newToken } from '../../src/store/lease.ts';
import { StoreCalls } from '../../src/store/store-calls.ts';
import { TurnBatch } from '../../src/store/turn-batch.ts';
import { sha256, storableKey, storableKeySync } from '../../src/stores.ts';
import { Deadlines } from '../../src/time.ts';

describe('Lease', () => {
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
    const lease = new Lease(calls, deadlines, claim, start, onLost);
    lease.keep();
    return { store, lease, onLost, renewals };
  }

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

/** A batch whose calls are answered with twice their number, and the sizes of its batches. */
function doubling(max: number) {
  const sizes: number[] = [];
  const batch = new TurnBatch<number, number>(max, (calls) => {
    sizes.push(calls.length);
    for (const { call, resolve, reject } of calls)
      if (call < 0) reject(new Error('negative'));
      else resolve(call * 2);
  });
  return { batch, sizes };
}

describe('TurnBatch', () => {
  it('passes on the calls of one turn together, and gives each its own answer', async () => {
    const { batch, sizes } = doubling(10);
    const answers = [1, 2, 3].map((number) => batch.add(number));
    await Promise.resolve();
    answers.push(batch.add(4)); // still the same turn
    expect(sizes).toEqual([]);
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8]);
    expect(await batch.add(5)).toBe(10);
    expect(sizes).toEqual([4, 1]);
  });

  it('waits no longer once a batch is full', async () => {
    const { batch, sizes } = doubling(2);
    const answers = [1, 2, 3, 4, 5].map((number) => batch.add(number));
    expect(sizes).toEqual([2, 2]);
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10]);
    await new Promise(setImmediate);
    expect(sizes).toEqual([2, 2, 1]);
  });

  it('rejects the calls that fail, and no others', async () => {
    const { batch } = doubling(10);
    const settled = await Promise.allSettled([1, -1, 2].map((number) => batch.add(number)));
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('does not stop with the fake timers of a test', async () => {
    jest.useFakeTimers();
    try {
      expect(await doubling(10).batch.add(1)).toBe(2);
    } finally {
      jest.useRealTimers();
    }
  });
});

/** Any text, with lone surrogates and NUL, up to 4,000 characters once it is repeated. */
const texts = fc
  .string({ unit: anyCharacter, maxLength: 400 })
  .chain((text) =>
    fc.constantFrom(
      text,
      `${text}\ud800`,
      `\udc00${text}`,
      `${text}\0`,
      text.repeat(40).slice(0, 4_000),
    ),
  );

describe('storableKey', () => {
  it('keeps readable keys as they are', async () => {
    for (const key of ['call-1:call:completed', 'custom:é', '\u{1f4de}', 'x'.repeat(256)])
      expect(await storableKey(key)).toBe(key);
  });

  it('returns a short text without NUL or lone surrogates, different for each key', () =>
    fc.assert(
      fc.asyncProperty(texts, texts, async (one, other) => {
        const [first, second] = await Promise.all([storableKey(one), storableKey(other)]);
        expect(first).toMatch(/^[^\0\p{Surrogate}]{1,256}$/u);
        expect(first === second).toBe(one === other);
        if (first !== one) expect(await storableKey(first)).not.toBe(first); // no key passes for a hash
      }),
    ));

  it('is the same synchronously', () => {
    const hash = (text: string) =>
      createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex');
    return fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const key of [text, `sha256:${text}`])
          expect(storableKeySync(key, hash)).toBe(await storableKey(key));
      }),
    );
  });

  it('distinguishes texts that UTF-8 would make equal', async () => {
    expect(await sha256('\ud800')).not.toBe(await sha256('\ud801'));
    expect(await sha256('\ud800')).not.toBe(await sha256('\ufffd'));
  });
});
