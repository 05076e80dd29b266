import { memoryStore, type MemoryStoreOptions } from '../../src/index.ts';
import { NOW } from '../support.ts';

/** A memory store on a clock that stands, and what it evicted. */
export function setup(options: MemoryStoreOptions = {}) {
  const clock = { now: NOW };
  const evicted: string[] = [];
  const store = memoryStore({
    now: () => clock.now,
    onEvicted: ({ kind }) => void evicted.push(kind),
    ...options,
  });
  let count = 0;
  const admit = (key: string | undefined, token: string, webhookId = `id-${String(++count)}`) =>
    store.admit({
      ...{ webhookId, token, key },
      ...{ leaseMs: 60_000, replayUntil: clock.now + 300_000 },
    });
  return { clock, evicted, store, admit };
}
