import type { Store } from '@call-webhooks/core';
import {
  type Admission,
  checkOptions,
  type Claim,
  type EventState,
} from '@call-webhooks/core/stores';
import { completeIn, literal, type SqliteTransaction } from './complete-in.ts';
import {
  checkDatabase,
  integer,
  storedKey,
  text,
  type Row,
  type SqliteDatabase,
  type Statements,
} from './database.ts';
import { sqliteOutcomeLog } from './outcome-log.ts';
import { sqliteOptionRules, type SqliteOptions } from './schema.ts';
import { Transactions } from './transactions.ts';
import { HeldLeases } from './wall-clock.ts';

/** The options of `sqliteStore`. */
export type SqliteStoreOptions = SqliteOptions;

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /**
   * Marks the event as done with a statement of your own transaction, as `context.completeIn` does. It
   * returns `false` if the lease was lost; then roll the transaction back. With a synchronous client,
   * it returns and throws at once.
   * @throws WebhookError `invalid-options` for what is no transaction
   */
  completeIn(tx: SqliteTransaction, key: string, token: string): boolean | Promise<boolean>;
}

/** No receiver asks for a longer lease; milliseconds. */
const MAX_LEASE_MS = 240_000;
/** After how many claims what is forgotten is removed, and how much of it at a time. */
const SWEEP_EVERY = 200;
const SWEEP_ROWS = 500;

// What `events.done` can be.
const NOT_DONE = 0;
const HANDLED = 1;
const DEAD_LETTERED = 2;

/**
 * Creates a store in a SQLite file, which any number of processes on one machine can share. What it has
 * confirmed survives a crash of the process, and also a power failure if the disk flushes its cache
 * when told to.
 *
 * It sets WAL, `synchronous = FULL`, `wal_autocheckpoint = 4000`, a short `busy_timeout` and a page
 * cache of at least 16 MB on the database handle. You own the handle: close it after
 * `receiver.close()`.
 * @throws WebhookError `invalid-options`
 * @example
 * const hook = callWebhooks({ secret, store: sqliteStore(new Database('calls.db')) });
 */
export function sqliteStore(db: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const settings = checkOptions('sqliteStore', sqliteOptionRules(), options);
  checkDatabase('sqliteStore', db);
  const { prefix, rememberFor, now = () => Date.now() } = settings;
  const transactions = new Transactions(db, prefix);
  const ids = `${prefix}ids`;
  const events = `${prefix}events`;
  const groups = `${prefix}groups`;
  const cursors = `${prefix}cursors`;
  const eventColumns = 'key, token, attempt, done, lease_until AS "leaseUntil"';
  const isHeld = 'key = ? AND token = ? AND done = 0 AND lease_until > ?';
  // With a clock of the user, such as a fake one in tests, there is no other clock.
  const held = settings.now ? undefined : new HeldLeases();
  /** When leases must have run out to be lost; those that this process holds are never lost. */
  const since = (key: string, token: string) => (held?.holds(key, token) ? 0 : now());
  let claims = 0;

  function admit(sql: Statements, claim: Claim): Admission {
    const { webhookId, replayUntil, key, leaseMs, token, group } = claim;
    const at = now();
    if (claims++ % SWEEP_EVERY === 0) sweep(sql, at);
    // Changes nothing if the id was seen before, with another token.
    const isNew = sql.change(
      `INSERT INTO ${ids} (id, token, keep_until) VALUES (?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET token = excluded.token, keep_until = excluded.keep_until
       WHERE keep_until <= ? OR token = excluded.token`,
      ...[webhookId, token, replayUntil, at],
    );
    if (!isNew) return { status: 'replayed' };
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const event = eventOf(sql, key, at);
    if (event && event.done !== NOT_DONE)
      return { status: event.done === DEAD_LETTERED ? 'dead-lettered' : 'duplicate' };
    if (event && isLive(sql, event, at, leaseMs))
      // The same token again: the reply to the first claim was lost.
      return event.token === token
        ? { status: 'admitted', attempt: event.attempt }
        : { status: 'in-progress' };

    const keepUntil = at + leaseMs + rememberFor;
    if (group !== undefined) {
      const last = lastOf(sql, group, at);
      if (last?.done === NOT_DONE && isLive(sql, last, at, leaseMs))
        return { status: 'group-busy' };
      const put = `INSERT OR REPLACE INTO ${groups} (id, key, keep_until) VALUES (?, ?, ?)`;
      sql.change(put, group, key, keepUntil);
    }
    const attempt = (event?.attempt ?? 0) + 1;
    sql.change(
      `INSERT OR REPLACE INTO ${events} (key, token, attempt, done, lease_until, keep_until)
       VALUES (?, ?, ?, 0, ?, ?)`,
      ...[key, token, attempt, at + leaseMs, keepUntil],
    );
    return { status: 'admitted', attempt };
  }

  const eventOf = (sql: Statements, key: string, at: number) =>
    eventIn(
      sql.first(`SELECT ${eventColumns} FROM ${events} WHERE key = ? AND keep_until > ?`, key, at),
    );

  /** The event of a group that was admitted last. The group is busy while it holds its lease. */
  const lastOf = (sql: Statements, group: string, at: number) =>
    eventIn(
      sql.first(
        `SELECT ${eventColumns} FROM ${events}
         WHERE key = (SELECT key FROM ${groups} WHERE id = ?) AND keep_until > ?`,
        ...[group, at],
      ),
    );

  function isLive(sql: Statements, event: StoredEvent, at: number, leaseMs: number): boolean {
    const { key, leaseUntil } = event;
    // Such a lease was taken before the clock was set back: its process may be dead.
    if (leaseUntil > at + MAX_LEASE_MS)
      sql.change(`UPDATE ${events} SET lease_until = ? WHERE key = ?`, at + leaseMs, key);
    return isLeased(event, at);
  }

  const isLeased = ({ key, token, leaseUntil }: StoredEvent, at: number): boolean =>
    leaseUntil > at || (leaseUntil > 0 && held?.holds(key, token) === true);

  function stateOf(sql: Statements, key: string): EventState | undefined {
    const at = now();
    const event = eventOf(sql, key, at);
    if (!event) return undefined;
    if (event.done !== NOT_DONE) return event.done === HANDLED ? 'handled' : 'dead-lettered';
    return isLeased(event, at) ? 'running' : 'failed';
  }

  function sweep(sql: Statements, at: number): void {
    for (const table of [ids, events, groups])
      sql.change(
        `DELETE FROM ${table} WHERE rowid IN (
           SELECT rowid FROM ${table} WHERE keep_until <= ? ORDER BY keep_until LIMIT ?)`,
        ...[at, SWEEP_ROWS],
      );
  }

  // Keys are made at once, so that calls reach the file in the order in which they were made.

  /** Ends a lease. */
  async function end(eventKey: string, token: string, set: string): Promise<boolean> {
    const key = storedKey(eventKey);
    const wasHeld = await transactions.run((sql) =>
      sql.change(`UPDATE ${events} SET ${set} WHERE ${isHeld}`, key, token, since(key, token)),
    );
    held?.end(key, token);
    return wasHeld;
  }

  return {
    name: 'SQLite',
    rememberFor,
    async admit(claim) {
      const webhookId = storedKey(claim.webhookId);
      const key = claim.key === undefined ? undefined : storedKey(claim.key);
      const group = claim.group === undefined ? undefined : storedKey(claim.group);
      const stored = { ...claim, webhookId, key, group };
      const admission = await transactions.run((sql) => admit(sql, stored));
      if (admission.status === 'admitted' && key !== undefined)
        held?.take(key, claim.token, claim.leaseMs);
      return admission;
    },
    complete: (key, token, mark) =>
      end(key, token, `done = ${String(mark === undefined ? HANDLED : DEAD_LETTERED)}`),
    /** A token that has completed the event may do it again. */
    completeIn(tx, eventKey, token) {
      const key = storedKey(eventKey);
      transactions.checkFile();
      const [handled, lostBefore] = [String(HANDLED), String(since(key, token))];
      return completeIn(db, prefix, tx, {
        update: `UPDATE ${events} SET done = ${handled}`,
        where: `key = ${literal(key)} AND token = ${literal(token)}
          AND (done = ${handled} OR (done = 0 AND lease_until > ${lostBefore}))`,
      });
    },
    release: (key, token) => end(key, token, 'lease_until = 0'),
    async extend(eventKey, token, leaseMs) {
      const key = storedKey(eventKey);
      const extend = `UPDATE ${events} SET lease_until = ? WHERE ${isHeld}`;
      const isExtended = await transactions.run((sql) =>
        sql.change(extend, now() + leaseMs, key, token, since(key, token)),
      );
      if (isExtended) held?.take(key, token, leaseMs);
      return isExtended;
    },
    reopen(eventKey) {
      const key = storedKey(eventKey);
      const reopen = `DELETE FROM ${events} WHERE key = ? AND done = ? AND keep_until > ?`;
      return transactions.run((sql) => sql.change(reopen, key, DEAD_LETTERED, now()));
    },
    forget(keys) {
      const forget = `DELETE FROM ${events} WHERE key = ? AND (done > 0 OR lease_until <= ?)`;
      return transactions.run(
        (sql) => keys.filter((key) => sql.change(forget, storedKey(key), now())).length,
      );
    },
    peek(keys) {
      const stored = keys.map(storedKey);
      return transactions.run((sql) => stored.map((key) => stateOf(sql, key)));
    },
    log: sqliteOutcomeLog(transactions, prefix, now),
    loadCursor(name) {
      const stored = storedKey(name);
      return transactions.run((sql) => {
        const row = sql.first(`SELECT cursor FROM ${cursors} WHERE name = ?`, stored);
        return row && text(row, 'cursor');
      });
    },
    async saveCursor(name, cursor) {
      const stored = storedKey(name);
      await transactions.run((sql) =>
        cursor === undefined
          ? sql.change(`DELETE FROM ${cursors} WHERE name = ?`, stored)
          : sql.change(`INSERT OR REPLACE INTO ${cursors} VALUES (?, ?)`, stored, cursor),
      );
    },
    ping: () => transactions.probe(),
  };
}

interface StoredEvent {
  readonly key: string;
  readonly token: string;
  readonly attempt: number;
  readonly done: number;
  readonly leaseUntil: number;
}

const eventIn = (row: Row | undefined): StoredEvent | undefined =>
  row && {
    key: text(row, 'key'),
    token: text(row, 'token'),
    attempt: integer(row, 'attempt'),
    done: integer(row, 'done'),
    leaseUntil: integer(row, 'leaseUntil'),
  };
