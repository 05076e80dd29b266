import { memoryDeadLetters, memoryStore } from '@call-webhooks/core';
import type { OpenedDeadLetters, OpenedStore, StoreUnderTest } from '../src/index.ts';

/** What the store in memory lacks. */
export const WITHOUT = ['clock', 'refusals', 'size'] as const satisfies StoreUnderTest['without'];

/** A store in memory, whose clock stands until a test moves it. */
export async function openMemoryStore(): Promise<OpenedStore> {
  let time = 1_800_000_000_000;
  const now = () => time;
  return { store: memoryStore({ now }), now, advance: (ms) => void (time += ms) };
}

/** Dead letters in memory, on such a clock. */
export async function openMemoryDeadLetters(): Promise<OpenedDeadLetters> {
  let time = 0;
  return {
    deadLetters: memoryDeadLetters({ now: () => time }),
    advance: (ms) => void (time += ms),
  };
}
