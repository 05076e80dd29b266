import { expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { NOW } from '../support.ts';

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
