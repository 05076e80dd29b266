import { DurableObject as BaseClass } from '#durable-object';
import type { Admission, Claim, DoneMark, EventState } from '@call-webhooks/core/stores';
import type { ObjectState } from './durable-object.ts';

/** A claim whose texts can be stored. */
export interface StoredClaim extends Omit<Claim, 'replayUntil'> {
  /** How long its webhook id has to be remembered; milliseconds. */
  keepIdMs: number;
  /** How long its event is known once it is done; milliseconds. */
  rememberFor: number;
}

interface EventRow {
  key: string;
  token: string;
  attempt: number;
  done: number;
  leaseUntil: number;
}

/** With a type of its own, since some ways to resolve modules don't find the import above. */
const DurableObject: typeof import('./durable-object.ts').DurableObject = BaseClass;

/** No receiver asks for a longer lease; milliseconds. */
const MAX_LEASE_MS = 240_000;
/** How soon a sweep goes on that found more rows than it may delete at once; milliseconds. */
const NEXT_SWEEP_MS = 1_000;

/**
 * The tables of an object. `done` is 1 for a handled event, and 2 for one that the dead letters have.
 * Times are milliseconds since the epoch.
 */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS ids (
  id TEXT PRIMARY KEY, token TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ids_keep_until ON ids (keep_until);
CREATE TABLE IF NOT EXISTS events (
  key TEXT PRIMARY KEY, token TEXT NOT NULL, attempt INTEGER NOT NULL, done INTEGER NOT NULL,
  lease_until INTEGER NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS events_keep_until ON events (keep_until);
CREATE TABLE IF NOT EXISTS groups (
  id TEXT PRIMARY KEY, key TEXT NOT NULL, keep_until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS groups_keep_until ON groups (keep_until);
CREATE TABLE IF NOT EXISTS bodies (
  id TEXT PRIMARY KEY, body TEXT NOT NULL, keep_until INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS bodies_keep_until ON bodies (keep_until);
CREATE TABLE IF NOT EXISTS cursors (name TEXT PRIMARY KEY, cursor TEXT NOT NULL) WITHOUT ROWID;`;

/** How many rows of each table a sweep deletes at once, so that claims never wait for long. */
const SWEEP_ROWS = 2_000;

const HELD = 'key = ? AND token = ? AND done = 0 AND lease_until > ?';

const sweep = (table: string, key: string) =>
  `DELETE FROM ${table} WHERE ${key} IN (
     SELECT ${key} FROM ${table} WHERE keep_until <= ? ORDER BY keep_until LIMIT ${SWEEP_ROWS}
   ) RETURNING 1`;

/** No webhook id is stored under it: those with NUL are hashed. */
const PING_ID = '\0ping';

const SQL = {
  id: 'SELECT token FROM ids WHERE id = ? AND keep_until > ?',
  putId: 'INSERT OR REPLACE INTO ids (id, token, keep_until) VALUES (?, ?, ?)',
  removeId: 'DELETE FROM ids WHERE id = ?',
  event:
    'SELECT token, attempt, done, lease_until AS leaseUntil FROM events WHERE key = ? AND keep_until > ?',
  putEvent:
    'INSERT OR REPLACE INTO events (key, token, attempt, done, lease_until, keep_until) VALUES (?, ?, ?, 0, ?, ?)',
  /** The event of a group that was admitted last. The group is busy while it holds its lease. */
  lastOfGroup:
    'SELECT key, token, attempt, done, lease_until AS leaseUntil FROM groups JOIN events USING (key) WHERE id = ?',
  putGroup: 'INSERT OR REPLACE INTO groups (id, key, keep_until) VALUES (?, ?, ?)',
  /** The token that marked the event may do so again: the answer to the first call may have been lost. */
  complete:
    'UPDATE events SET done = ? WHERE key = ? AND token = ? AND (done = ? OR (done = 0 AND lease_until > ?)) RETURNING 1',
  release: `UPDATE events SET lease_until = 0 WHERE ${HELD} RETURNING 1`,
  extend: `UPDATE events SET lease_until = ? WHERE ${HELD} RETURNING 1`,
  shortenLease: 'UPDATE events SET lease_until = ? WHERE key = ?',
  reopen: 'DELETE FROM events WHERE key = ? AND done = 2 AND keep_until > ? RETURNING 1',
  forget: 'DELETE FROM events WHERE key = ? AND (done > 0 OR lease_until <= ?) RETURNING 1',
  cursor: 'SELECT cursor FROM cursors WHERE name = ?',
  putCursor: 'INSERT OR REPLACE INTO cursors (name, cursor) VALUES (?, ?)',
  removeCursor: 'DELETE FROM cursors WHERE name = ?',
  body: 'SELECT body FROM bodies WHERE id = ?',
  putBody: 'INSERT INTO bodies (id, body, keep_until) VALUES (?, ?, ?)',
  /** The row stays: a message that Cloudflare delivers again finds that its job is done. */
  emptyBody: "UPDATE bodies SET body = '' WHERE id = ?",
  sweeps: [
    sweep('ids', 'id'),
    sweep('events', 'key'),
    sweep('groups', 'id'),
    sweep('bodies', 'id'),
  ],
  isEmpty:
    'SELECT NOT EXISTS (SELECT 1 FROM ids) AND NOT EXISTS (SELECT 1 FROM events) AND NOT EXISTS (SELECT 1 FROM groups) AND NOT EXISTS (SELECT 1 FROM bodies) AS isEmpty',
} as const;

/**
 * The Durable Object of `durableObjectStore`. Export it from your Worker, and list it under
 * `new_sqlite_classes` in the migrations of the Worker's configuration.
 *
 * An object handles one call at a time, and confirms it once its writes are durable. An alarm deletes
 * old rows.
 * @example
 * export { CallWebhooksStore } from '@call-webhooks/cloudflare';
 */
export class CallWebhooksStore<Env = unknown> extends DurableObject<Env> {
  #isSweepPlanned = false;

  constructor(ctx: ObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(SCHEMA);
  }

  /** The clock, in milliseconds since the epoch. Tests may have another one. */
  protected now(): number {
    return Date.now();
  }

  /** Milliseconds between two sweeps. Tests may wait for less. */
  protected sweepEvery(): number {
    return 3_600_000;
  }

  /** As `admit` of a store. */
  async admit(claim: StoredClaim): Promise<Admission> {
    const admission = this.ctx.storage.transactionSync(() => this.#admit(claim));
    await this.#planSweep();
    return admission;
  }

  /** As `complete` of a store. */
  complete(key: string, token: string, mark?: DoneMark): boolean {
    const done = mark === undefined ? 1 : 2;
    return this.#changes(SQL.complete, done, key, token, done, this.now());
  }

  /** As `release` of a store. */
  release(key: string, token: string): boolean {
    return this.#changes(SQL.release, key, token, this.now());
  }

  /** As `extend` of a store. */
  extend(key: string, token: string, leaseMs: number): boolean {
    const at = this.now();
    return this.#changes(SQL.extend, at + leaseMs, key, token, at);
  }

  /** As `reopen` of a store. */
  reopen(key: string): boolean {
    return this.#changes(SQL.reopen, key, this.now());
  }

  /** As `forget` of a store. */
  forget(keys: readonly string[]): number {
    return keys.filter((key) => this.#changes(SQL.forget, key, this.now())).length;
  }

  /** As `peek` of a store. */
  peek(keys: readonly string[]): (EventState | undefined)[] {
    const at = this.now();
    return keys.map((key) => {
      const [event] = this.#rows<EventRow>(SQL.event, key, at);
      if (!event) return undefined;
      if (event.done > 0) return event.done === 1 ? 'handled' : 'dead-lettered';
      return event.leaseUntil > at ? 'running' : 'failed';
    });
  }

  /** As `loadCursor` of a store. */
  loadCursor(name: string): string | undefined {
    const [row] = this.#rows<{ cursor: string }>(SQL.cursor, name);
    return row?.cursor;
  }

  /** As `saveCursor` of a store. */
  saveCursor(name: string, cursor?: string): void {
    if (cursor === undefined) this.#rows(SQL.removeCursor, name);
    else this.#rows(SQL.putCursor, name, cursor);
  }

  /**
   * Keeps a body that is too large for a queue.
   * @param keepFor milliseconds
   */
  async keepBody(id: string, body: string, keepFor: number): Promise<void> {
    this.#rows(SQL.putBody, id, body, this.now() + keepFor);
    await this.#planSweep();
  }

  /**
   * Returns a body that was kept. It is empty if its job is done, and `undefined` if it is not known.
   */
  loadBody(id: string): string | undefined {
    return this.#rows<{ body: string }>(SQL.body, id)[0]?.body;
  }

  /** Deletes a body whose job is done. */
  dropBody(id: string): void {
    this.#rows(SQL.emptyBody, id);
  }

  /** Resolves if a delivery could be kept: it writes what a delivery writes first, and removes it. */
  ping(): void {
    this.ctx.storage.transactionSync(() => {
      this.#rows(SQL.putId, PING_ID, '', 0);
      this.#rows(SQL.removeId, PING_ID);
    });
  }

  /** Deletes what is too old to matter. Called by the platform. */
  async alarm(): Promise<void> {
    const { storage } = this.ctx;
    const at = this.now();
    const swept = SQL.sweeps.map((sweep) => this.#rows(sweep, at).length);
    const [left] = this.#rows<{ isEmpty: number }>(SQL.isEmpty);
    this.#isSweepPlanned = left?.isEmpty === 0;
    if (!this.#isSweepPlanned) return;
    const goesOn = swept.includes(SWEEP_ROWS);
    await storage.setAlarm(Date.now() + (goesOn ? NEXT_SWEEP_MS : this.sweepEvery()));
  }

  #admit({ webhookId, keepIdMs, rememberFor, ...claim }: StoredClaim): Admission {
    const { key, leaseMs, token, group } = claim;
    const at = this.now();
    const [seen] = this.#rows<{ token: string }>(SQL.id, webhookId, at);
    if (seen && seen.token !== token) return { status: 'replayed' };
    // A repeated claim must not prolong it.
    if (!seen) this.#rows(SQL.putId, webhookId, token, at + keepIdMs);
    if (key === undefined) return { status: 'admitted', attempt: 1 };

    const [event] = this.#rows<EventRow>(SQL.event, key, at);
    if (event && event.done > 0)
      return { status: event.done === 1 ? 'duplicate' : 'dead-lettered' };
    const past = event?.attempt ?? 0;
    if (event && this.#isLive({ ...event, key }, at, leaseMs))
      // The same token again: the reply to the first claim was lost.
      return event.token === token
        ? { status: 'admitted', attempt: past }
        : { status: 'in-progress' };
    const keepUntil = at + leaseMs + rememberFor;
    if (group !== undefined) {
      const [last] = this.#rows<EventRow>(SQL.lastOfGroup, group);
      if (last?.done === 0 && this.#isLive(last, at, leaseMs)) return { status: 'group-busy' };
      this.#rows(SQL.putGroup, group, key, keepUntil);
    }
    this.#rows(SQL.putEvent, key, token, past + 1, at + leaseMs, keepUntil);
    return { status: 'admitted', attempt: past + 1 };
  }

  #isLive({ key, leaseUntil }: EventRow, at: number, leaseMs: number): boolean {
    // Such a lease was taken before the clock was set back: its Worker may be gone.
    if (leaseUntil > at + MAX_LEASE_MS) this.#rows(SQL.shortenLease, at + leaseMs, key);
    return leaseUntil > at;
  }

  async #planSweep(): Promise<void> {
    if (this.#isSweepPlanned) return;
    this.#isSweepPlanned = true;
    const { storage } = this.ctx;
    // The alarm may have been set before the object was last started.
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + this.sweepEvery());
  }

  #rows<Row extends object>(query: string, ...values: (string | number)[]): Row[] {
    return this.ctx.storage.sql.exec(query, ...values).toArray() as Row[];
  }

  /** Whether a statement that returns a row for each change has changed anything. */
  #changes(query: string, ...values: (string | number)[]): boolean {
    return this.#rows(query, ...values).length > 0;
  }
}
