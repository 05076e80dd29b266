import { createHash } from 'node:crypto';
import type { Store } from '@call-webhooks/core';
import { storableKeySync, type Admission, type Claim } from '@call-webhooks/core/stores';
import { checkOptions } from '@call-webhooks/core/internal';
import { completeIn, type SqliteTransaction } from './complete-in.ts';
import { checkDatabase, type SqliteDatabase } from './database.ts';
import { HeldLeases } from './held-leases.ts';
import { hashOf, slotsOf, TIDY_EVERY } from './name-index.ts';
import { sqliteOptionRules, type SqliteOptions } from './options.ts';
import { completionOf, storeSchema, storeStatements, type StoredName } from './store-statements.ts';
import { Transactions } from './transactions.ts';

/** Options of `sqliteStore`. */
export type SqliteStoreOptions = SqliteOptions;

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /**
   * Marks the event as done with a statement of your own transaction, as `context.completeIn` does.
   * Gives `false` if the lease was lost. With a synchronous client, it returns and throws at once.
   * @throws WebhookError `invalid-options` for what is no transaction
   */
  completeIn(tx: SqliteTransaction, key: string, token: string): boolean | Promise<boolean>;
}

/** No receiver asks for a longer lease; milliseconds. */
const MAX_LEASE_MS = 240_000;
const SWEEP_ROWS = 500;

interface EventRow {
  row: number | bigint;
  token: string;
  attempt: number | bigint;
  done: number | bigint;
  leaseUntil: number | bigint;
}

/**
 * Keeps webhook ids and events in a SQLite file, which any number of processes of one machine can
 * share. What it answered survives a crash of the process; a power cut too, if the disk keeps its
 * word.
 *
 * It sets WAL, `synchronous = FULL`, `wal_autocheckpoint = 4000`, a short `busy_timeout` and a page
 * cache of at least 16 MB on the handle. The handle stays yours: close it after `receiver.close()`.
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks({ secret, store: sqliteStore(new Database('calls.db')) });
 */
export function sqliteStore(db: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const settings = checkOptions('sqliteStore', sqliteOptionRules(), options);
  checkDatabase('sqliteStore', db);
  const { prefix, rememberFor } = settings;
  const now = settings.now ?? (() => Date.now());
  const transactions = new Transactions(db, storeSchema(prefix));
  // With a clock of the user, such as a fake one in tests, there is no other clock.
  const held = settings.now ? undefined : new HeldLeases();
  let statements: ReturnType<typeof storeStatements> | undefined;
  const sql = () => (statements ??= storeStatements(db, prefix));
  let claims = 0;

  interface StorableClaim extends Omit<Claim, 'webhookId' | 'key'> {
    readonly id: StoredName;
    readonly key: StoredName | undefined;
  }

  function admit({ id, replayUntil, key, leaseMs, token, group }: StorableClaim): Admission {
    const at = now();
    if (claims++ % TIDY_EVERY === 0) {
      sql().sweepIds.run(at, SWEEP_ROWS);
      sql().sweepEvents.run(at, SWEEP_ROWS);
      sql().sweepGroups.run(at, SWEEP_ROWS);
      sql().idNames.tidy();
      sql().eventNames.tidy();
    }
    const seen = sql().id.get(...slotsOf(id.hash), id.text, at) as
      { token: string } | null | undefined;
    if (seen && seen.token !== token) return { status: 'replayed' };
    if (!seen) {
      const { lastInsertRowid } = sql().addId.run(id.text, token, replayUntil);
      sql().idNames.add(id.hash, lastInsertRowid);
    }
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const event = sql().event.get(...slotsOf(key.hash), key.text, at) as
      EventRow | null | undefined;
    const done = Number(event?.done ?? 0);
    if (done > 0) return { status: done === 1 ? 'duplicate' : 'dead-lettered' };
    const past = Number(event?.attempt ?? 0);
    if (event && isLive(event, key.text, at, leaseMs))
      // The same token again: the reply to the first claim was lost.
      return event.token === token
        ? { status: 'admitted', attempt: past }
        : { status: 'in-progress' };
    const keepUntil = at + leaseMs + rememberFor;
    if (group !== undefined && isBusy(group, at, leaseMs)) return { status: 'group-busy' };
    let row = event?.row;
    if (row === undefined) {
      row = sql().addEvent.run(key.text, token, at + leaseMs, keepUntil).lastInsertRowid;
      sql().eventNames.add(key.hash, row);
    } else sql().claimAgain.run(token, past + 1, at + leaseMs, keepUntil, row);
    if (group !== undefined) sql().putGroup.run(group, row, key.text, keepUntil);
    held?.take(key.text, token, row, leaseMs);
    return { status: 'admitted', attempt: past + 1 };
  }

  function isBusy(group: string, at: number, leaseMs: number): boolean {
    const last = sql().lastOfGroup.get(group, at) as (EventRow & { key: string }) | null;
    return last ? Number(last.done) === 0 && isLive(last, last.key, at, leaseMs) : false;
  }

  function isLive(event: EventRow, key: string, at: number, leaseMs: number): boolean {
    const until = Number(event.leaseUntil);
    // Such a lease was taken before the clock was set back: its process may be dead.
    if (until > at + MAX_LEASE_MS) sql().shortenLease.run(at + leaseMs, event.row);
    return until > at || (until > 0 && held?.holds(key, event.token) === true);
  }

  /** When leases must have run out to be lost; those that this process holds are never lost. */
  const since = (key: string, token: string) => (held?.holds(key, token) ? 0 : now());

  const rowOf = ({ hash, text }: StoredName, token: string) =>
    held?.rowOf(text, token) ??
    (sql().leasedRow.get(...slotsOf(hash), text, token) as EventRow | null | undefined)?.row;

  // Keys are made at once, so that calls reach the file in the order in which they were made.

  const settle = (how: 'complete' | 'deadLetter' | 'release', eventKey: string, token: string) => {
    const key = named(eventKey);
    return transactions.run(() => {
      const row = rowOf(key, token);
      if (row === undefined) return false;
      const { changes } = sql()[how].run(row, key.text, token, since(key.text, token));
      held?.end(key.text, token);
      return Number(changes) > 0;
    });
  };

  return {
    rememberFor,
    admit(claim) {
      const id = named(claim.webhookId);
      const key = claim.key === undefined ? undefined : named(claim.key);
      const group = claim.group === undefined ? undefined : keyOf(claim.group);
      return transactions.run(() => admit({ ...claim, id, key, group }));
    },
    complete: (key, token, mark) =>
      settle(mark === undefined ? 'complete' : 'deadLetter', key, token),
    completeIn(tx, eventKey, token) {
      const key = named(eventKey);
      return completeIn(db, tx, completionOf(prefix, key, token, since(key.text, token)));
    },
    release: (key, token) => settle('release', key, token),
    extend(eventKey, token, leaseMs) {
      const key = named(eventKey);
      return transactions.run(() => {
        const row = rowOf(key, token);
        if (row === undefined) return false;
        const until = now() + leaseMs;
        const { changes } = sql().extend.run(until, row, key.text, token, since(key.text, token));
        if (Number(changes) === 0) return false;
        held?.take(key.text, token, row, leaseMs);
        return true;
      });
    },
    reopen(eventKey) {
      const { hash, text } = named(eventKey);
      return transactions.run(
        () => Number(sql().reopen.run(...slotsOf(hash), text, now()).changes) > 0,
      );
    },
    loadCursor(name) {
      const id = keyOf(name);
      return transactions.run(
        () => (sql().cursor.all(id)[0] as { cursor: string } | undefined)?.cursor,
      );
    },
    async saveCursor(name, cursor) {
      const id = keyOf(name);
      await transactions.run(() =>
        cursor === undefined ? sql().removeCursor.run(id) : sql().putCursor.run(id, cursor),
      );
    },
    ping: () => transactions.run(() => undefined), // takes the lock that a claim takes
  };
}

function named(name: string): StoredName {
  const text = keyOf(name);
  return { hash: hashOf(text), text };
}

const keyOf = (text: string) =>
  storableKeySync(text, (long) =>
    createHash('sha256').update(Buffer.from(long, 'utf16le')).digest('hex'),
  );
