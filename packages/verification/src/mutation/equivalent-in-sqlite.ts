import { FASTER } from './reasons.ts';

const SAME_MILLISECOND = 'a millisecond later is as good';
const ALWAYS_A_ROW = 'an aggregate always gives a row';

/** The changes of the SQLite package that do no harm, as `EQUIVALENT` has them. */
export const IN_SQLITE = {
  'packages/sqlite/src/clock-steps.ts': {
    'offset < before - STEP_MS → offset <= before - STEP_MS': SAME_MILLISECOND,
  },
  'packages/sqlite/src/complete-in.ts': {
    '\'\' → "Stryker was here!"': 'a SELECT without a table always gives a row',
    'row?.copy → row.copy': 'a SELECT without a table always gives a row',
    'cause !== undefined → true': 'undefined has no message and no cause',
    'depth < 5 → depth <= 5': 'no client wraps an error that often',
    'copy === undefined → true': FASTER,
  },
  'packages/sqlite/src/database.ts': {
    "typeof message === 'string' → true": 'undefined as a text says nothing of locks',
  },
  'packages/sqlite/src/dead-jobs.ts': {
    'page.length < PAGE → false': FASTER,
    '!last || page.length < PAGE → !last && page.length < PAGE': FASTER,
  },
  'packages/sqlite/src/dead-letters.ts': {
    'Number(claimedUntil) > now() → Number(claimedUntil) >= now()': SAME_MILLISECOND,
    '-1 → +1': 'nothing failed in 1970',
    '\'\' → "Stryker was here!"': 'nothing failed before 1970',
    'row?.count → row.count': ALWAYS_A_ROW,
  },
  'packages/sqlite/src/held-leases.ts': {
    'until > now → until >= now': SAME_MILLISECOND,
    'lease.until > performance.now() → lease.until >= performance.now()': SAME_MILLISECOND,
  },
  'packages/sqlite/src/jobs.ts': {
    'this.#added++ → this.#added--': 'each hundredth one, downwards',
    "next?.['dueAt'] → next['dueAt']": ALWAYS_A_ROW,
    'row?.[name] → row[name]': ALWAYS_A_ROW,
  },
  'packages/sqlite/src/name-index.ts': {
    'level + 1 >= lastLevel → true': FASTER,
    'estimated > FIRST_LEVEL * GROWTH ** level → estimated >= FIRST_LEVEL * GROWTH ** level':
      'one name more or less makes no difference',
  },
  'packages/sqlite/src/store.ts': {
    'claims++ → claims--': 'every 200th one, downwards',
    'until > at + MAX_LEASE_MS → until >= at + MAX_LEASE_MS': SAME_MILLISECOND,
    'until > at → until >= at': SAME_MILLISECOND,
    'until > 0 → until >= 0': 'a released lease is held no more',
    'until > 0 → true': 'a released lease is held no more',
  },
  'packages/sqlite/src/transaction-drivers.ts': {
    'kindOf(client)?.includes → kindOf(client).includes':
      'it is asked for clients of Drizzle alone',
    "typeof kind === 'string' → true": 'the kind of a class is a text, or there is none',
  },
  'packages/sqlite/src/transactions.ts': {
    'this.#flushing → false': 'another turn takes what waits, in the same order',
    'true → false': 'another turn takes what waits, in the same order',
    '5 + Math.random() * 10 → 5 - Math.random() * 10': 'another pause is as good',
    'Math.random() * 10 → Math.random() / 10': 'another pause is as good',
    'batch[0]?.reject → batch[0].reject': 'a batch is never empty',
  },
};
