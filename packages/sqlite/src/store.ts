import type { Admission, Claim, Store } from '@call-webhooks/core';
import type { SqliteDatabase } from './database.ts';
import { keyText } from './key-text.ts';
import { checkedPrefix } from './prefix.ts';
import { storeSchema, storeStatements } from './store-statements.ts';
import { Transactions } from './transactions.ts';

export interface SqliteStoreOptions {
  /** What the names of the tables begin with; `call_webhooks_` by default. */
  prefix?: string | undefined;
  /** How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least 10 minutes. */
  rememberFor?: number | undefined;
  /** The clock, in milliseconds; `Date.now` by default. All processes on the file need the same. */
  now?: (() => number) | undefined;
}

const DAY_MS = 86_400_000;
const LEAST_MS = 600_000; // above the longest lease
const SWEEP_EVERY = 100;
const SWEEP_ROWS = 500;

interface EventRow {
  token: string;
  attempt: number | bigint;
  done: number | bigint;
  leaseUntil: number | bigint;
}

/**
 * The store for one machine, in a SQLite file that any number of its processes may share. What it
 * has answered survives a crash of the process, and a power cut as far as the disk keeps its word.
 *
 * It sets WAL, synchronous FULL and a short busy_timeout on the handle. The handle stays yours: close
 * it after `receiver.close()`.
 * @throws WebhookError `invalid-options`
 */
export function sqliteStore(
  db: SqliteDatabase,
  { prefix, rememberFor = DAY_MS, now = Date.now }: SqliteStoreOptions = {},
): Store {
  const names = checkedPrefix(prefix);
  const transactions = new Transactions(db, storeSchema(names));
  const keepMs = Math.max(rememberFor, LEAST_MS);
  let statements: ReturnType<typeof storeStatements> | undefined;
  const sql = () => (statements ??= storeStatements(db, names));
  let claims = 0;

  function admit({ webhookId, replayUntil, key, leaseMs, token }: Claim): Admission {
    const at = now();
    if (claims++ % SWEEP_EVERY === 0) {
      sql().sweepIds.run(at, SWEEP_ROWS);
      sql().sweepEvents.run(at, SWEEP_ROWS);
    }
    const [seen] = sql().id.all(webhookId, at) as { token: string }[];
    if (seen && seen.token !== token) return { status: 'replayed' };
    sql().putId.run(webhookId, token, replayUntil);
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const text = keyText(key);
    const [event] = sql().event.all(text, at) as EventRow[];
    if (event && Number(event.done) === 1) return { status: 'duplicate' };
    const past = Number(event?.attempt ?? 0);
    if (event && Number(event.leaseUntil) > at)
      // The same token once more: the claim's first answer was lost.
      return event.token === token
        ? { status: 'admitted', attempt: past }
        : { status: 'in-progress' };
    sql().putEvent.run(text, token, past + 1, at + leaseMs, at + leaseMs + keepMs);
    return { status: 'admitted', attempt: past + 1 };
  }

  const settle = (how: 'complete' | 'release', key: string, token: string) =>
    transactions.run(() => sql()[how].all(keyText(key), token, now()).length > 0);

  return {
    admit: (claim) => transactions.run(() => admit(claim)),
    complete: (key, token) => settle('complete', key, token),
    release: (key, token) => settle('release', key, token),
    extend: (key, token, leaseMs) =>
      transactions.run(() => {
        const at = now();
        return sql().extend.all(at + leaseMs, keyText(key), token, at).length > 0;
      }),
    ping: () => transactions.run(() => undefined), // takes the lock that a claim takes
  };
}
