import { FASTER, IN_EDGE_TEST, MADE_BEFORE } from './reasons.ts';

/** The changes of core's stores and time that do no harm, as `EQUIVALENT` has them. */
export const IN_STORE = {
  'packages/core/src/store/bounded-store.ts': {
    '() => false → () => undefined': 'it is only asked whether it is true',
    'false → true': 'only a store that has the method is asked',
    'store.reopen?.(key) → store.reopen(key)': 'only a store that has the method is asked',
    'store.completeIn?.(tx, key, token) → store.completeIn(tx, key, token)':
      'only a store that has the method is asked',
    'channel?.hasSubscribers → channel.hasSubscribers': IN_EDGE_TEST,
    'true → false': FASTER,
  },
  'packages/core/src/store/dead-letter-query.ts': {
    '\'\' → "Stryker was here!"': 'it is not used without a cursor',
    '[] → ["Stryker was here"]': 'it is not used without a cursor',
  },
  'packages/core/src/store/id-cache.ts': { 'length === 1 → false': FASTER },
  'packages/core/src/store/hash53.ts': {
    'i < text.length → i <= text.length': 'another hash, and as good',
    '(mixedHigh >>> 11) * 2 ** 32 + (mix(low, mixedHigh) >>> 0) → (mixedHigh >>> 11) * 2 ** 32 - (mix(low, mixedHigh) >>> 0)':
      'another hash, and as good',
  },
  'packages/core/src/store/lease.ts': {
    '++tokenCount → --tokenCount': 'another token, and as good',
  },
  'packages/core/src/store/memory-dead-letters.ts': {
    'matching(query).slice(0, limit + 1) → matching(query)': FASTER,
    'one.id < other.id → one.id <= other.id': 'no two letters have the same id',
    '(id, { token, leaseMs }) => promiseOf(() => { const entry = kept.get(id); const… → () => undefined':
      MADE_BEFORE,
    '(id, token, leaseMs) => promiseOf(() => { const entry = held(id, token); if (en… → () => undefined':
      MADE_BEFORE,
    '(id, token) => promiseOf(() => held(id, token) !== undefined && kept.delete(id)) → () => undefined':
      MADE_BEFORE,
    '(id, token, failure) => promiseOf(() => { const entry = held(id, token); if (!e… → () => undefined':
      MADE_BEFORE,
  },
  'packages/core/src/store/memory-leases.ts': {
    'running !== undefined → true': 'no lease is of the key undefined',
    'lease.until > now → lease.until >= now': 'live checks the end again',
    'lease.group !== undefined → true': 'no claim is in the group undefined',
    'group !== undefined → true': 'no claim is in the group undefined',
  },
  'packages/core/src/store/memory-store.ts': {
    '(name) => Promise.resolve(cursors.get(name)) → () => undefined': MADE_BEFORE,
    '(name, cursor) => Promise.resolve(void cursors.set(name, cursor)) → () => undefined':
      MADE_BEFORE,
    '() => Promise.resolve() → () => undefined': MADE_BEFORE,
  },
  'packages/core/src/store/turn-batch.ts': { 'size === 1 → true': FASTER },
  'packages/core/src/time/deadline-scheduler.ts': {
    'deadline.at < this.#armedFor → deadline.at <= this.#armedFor': FASTER,
  },
};
