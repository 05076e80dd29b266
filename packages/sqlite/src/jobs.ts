import { randomUUID } from 'node:crypto';
import type { QueuedDelivery } from '@call-webhooks/core';
import {
  checkOptions,
  type DeadJobRecord,
  type JobFailure,
  type LeasedJob,
  MAX_FAILURES,
  option,
  type RemovalTurn,
  tenantKey,
} from '@call-webhooks/core/stores';
import { completeIn, literal } from './complete-in.ts';
import {
  checkDatabase,
  integer,
  storedKey,
  text,
  textOrNull,
  type Row,
  type SqliteDatabase,
  type Statements,
} from './database.ts';
import { sqliteOptionRules, type SqliteOptions } from './schema.ts';
import { Transactions } from './transactions.ts';
import { takeTurn } from './turn.ts';
import { ClockSteps } from './wall-clock.ts';

/** The number of jobs in each state. */
export interface QueueStats {
  /** The number of jobs that can be run now. */
  waiting: number;
  /** The number of jobs that failed and wait for their next run. */
  delayed: number;
  /** The number of jobs that are leased to a worker. */
  running: number;
  /** The number of handled jobs that are kept, so that their events are recognized as duplicates. */
  done: number;
  /** The number of jobs that were given up and are kept. */
  dead: number;
}

/** How a worker runs jobs. */
export interface RunSettings {
  /** Milliseconds. */
  readonly leaseFor: number;
  /** Milliseconds until the next attempt. */
  readonly backoff: (attempt: number) => number;
  readonly maxRuns: number;
}

/** A job under a lease. */
export interface TakenJob {
  readonly id: number;
  readonly job: LeasedJob;
}

/** No worker may ask for a longer lease; milliseconds. */
export const MAX_LEASE_MS = 900_000;
/** After how many jobs what is forgotten is removed, and how much of it at a time. */
const SWEEP_EVERY = 100;
const SWEEP_ROWS = 500;
/** Runs beyond `maxRuns` that end with their process until a job is given up. */
const EXTRA_CRASHES = 3;

/** A lease that ran out is still the worker's, until another one takes the job. */
const HELD = `id = ? AND token = ? AND state = 'open'`;
/** The body may hold personal data, so it is deleted at once. */
const DONE = `state = 'done', error = NULL, failures = NULL, delivery = NULL`;
const NOT_ONE_OF = 'id NOT IN (SELECT value FROM json_each(?))';
const DEAD_JOB = `id, attempt, error, failures, due_at AS "failedAt", delivery`;
const ADD_FAILURE = `failures = json_insert(
  CASE WHEN json_array_length(failures) >= ${String(MAX_FAILURES)} THEN json_remove(failures, '$[1]')
    ELSE coalesce(failures, '[]') END, '$[#]', json(?))`;

/**
 * The table of jobs, which queue and worker share. Each call is one transaction. Parameters have no numbers,
 * since better-sqlite3 takes `?1` for a name.
 */
export class Jobs {
  /** Called for new jobs: the workers of this process. */
  readonly listeners = new Set<() => void>();
  /** How long a dead job is kept; milliseconds. */
  readonly keepFor: number | undefined;
  readonly #db: SqliteDatabase;
  readonly #prefix: string;
  readonly table: string;
  readonly rememberFor: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly #clock = new ClockSteps();
  readonly #transactions: Transactions;
  #added = 0;

  constructor(db: SqliteDatabase, options: SqliteOptions & { keepFor?: number | undefined }) {
    const rules = { ...sqliteOptionRules(), keepFor: option.keepFor() };
    const settings = checkOptions('sqliteQueue', rules, options);
    checkDatabase('sqliteQueue', db);
    const { prefix, rememberFor, now = () => Date.now() } = settings;
    this.keepFor = settings.keepFor;
    this.#db = db;
    this.#prefix = prefix;
    this.table = `${prefix}jobs`;
    this.rememberFor = rememberFor;
    this.now = now;
    this.#transactions = new Transactions(db, prefix);
  }

  async add(delivery: QueuedDelivery): Promise<void> {
    const { tenant, key, webhookId } = delivery;
    const event =
      key === undefined
        ? `webhook ${storedKey(tenantKey(tenant, webhookId))}`
        : `event ${storedKey(key)}`;
    await this.run((sql, at) => {
      if (this.#added++ % SWEEP_EVERY === 0) this.#sweep(sql, at);
      // A known event changes nothing, unless it should be forgotten by now.
      return sql.change(
        `INSERT INTO ${this.table} (event, due_at, delivery) VALUES (?, ?, ?)
         ON CONFLICT (event) DO UPDATE SET
           state = 'open', due_at = excluded.due_at, token = NULL, attempt = 0, crashes = 0,
           abandon_reason = NULL, is_last_run = 0, error = NULL, failures = NULL, delivery = excluded.delivery
         WHERE state = 'done' AND due_at <= excluded.due_at`,
        ...[event, at, JSON.stringify(delivery)],
      );
    });
    this.#wakeListeners();
  }

  #sweep(sql: Statements, at: number): void {
    sql.change(
      `DELETE FROM ${this.table} WHERE id IN (
         SELECT id FROM ${this.table} WHERE state = 'done' AND due_at <= ? ORDER BY due_at LIMIT ?)`,
      ...[at, SWEEP_ROWS],
    );
  }

  /**
   * Leases up to `limit` jobs that are due, and says when the next one is.
   * @param running ids of jobs that the caller runs. Their leases may have run out while another
   *   process held the file's lock, and a job must not run beside itself
   */
  take(
    limit: number,
    settings: RunSettings,
    running: Iterable<number>,
  ): Promise<{ jobs: TakenJob[]; nextIn: number | undefined }> {
    return this.run((sql, at) => {
      if (this.#clock.wasSetBack(at)) this.#shortenWaits(sql, at, settings);
      const token = randomUUID();
      const ours = JSON.stringify([...running]);
      const rows = sql.rows(
        `UPDATE ${this.table} SET token = ?, due_at = ?, attempt = attempt + 1, crashes = crashes + (token IS NOT NULL)
         WHERE id IN (
           SELECT id FROM ${this.table} WHERE state = 'open' AND due_at <= ? AND ${NOT_ONE_OF}
           ORDER BY due_at, id LIMIT ?)
         RETURNING id, attempt, crashes, abandon_reason AS "abandonReason", is_last_run AS "isLastRun", delivery`,
        ...[token, at + settings.leaseFor, at, ours, limit],
      );
      const next = sql.first(
        `SELECT due_at AS "dueAt" FROM ${this.table} WHERE state = 'open' AND ${NOT_ONE_OF}
         ORDER BY due_at LIMIT 1`,
        ours,
      );
      return {
        jobs: rows.map((row) => ({
          id: integer(row, 'id'),
          job: this.#leased(row, token, settings),
        })),
        nextIn: next && integer(next, 'dueAt') - at,
      };
    });
  }

  /** After the clock was set back, times that were written before are too far away. */
  #shortenWaits(sql: Statements, at: number, { leaseFor, backoff }: RunSettings): void {
    const open = `UPDATE ${this.table} SET due_at = ? WHERE state = 'open'`;
    // No lease is longer: the worker of this one may be dead.
    sql.change(`${open} AND token IS NOT NULL AND due_at > ?`, at + leaseFor, at + MAX_LEASE_MS);
    // What was added, released or retried by hand can be run at once.
    sql.change(`${open} AND token IS NULL AND error IS NULL AND due_at > ?`, at, at);
    const delayed = `FROM ${this.table} WHERE state = 'open' AND token IS NULL AND due_at > ?`;
    for (const row of sql.rows(`SELECT DISTINCT attempt ${delayed}`, at)) {
      const attempt = integer(row, 'attempt');
      const dueAt = at + backoff(attempt);
      sql.change(`${open} AND token IS NULL AND due_at > ? AND attempt = ?`, dueAt, dueAt, attempt);
    }
  }

  /** What a run of a job has to know, and what it writes. If the lease was lost, that changes nothing. */
  #leased(row: Row, token: string, { leaseFor, backoff, maxRuns }: RunSettings): LeasedJob {
    const id = integer(row, 'id');
    const attempt = integer(row, 'attempt');
    const crashes = integer(row, 'crashes');
    const isLastRun = integer(row, 'isLastRun') === 1;
    const isGivenUp = (attempt > maxRuns || isLastRun) && crashes > EXTRA_CRASHES;
    const abandonReason =
      textOrNull(row, 'abandonReason') ??
      (isGivenUp ? `Its process died in each of the last ${String(crashes)} runs.` : undefined);

    const write = (set: string, values: (at: number) => unknown[]) =>
      this.#update(set, HELD, (at) => [...values(at), id, token]);
    const failure = (at: number, error: string) =>
      JSON.stringify({ at, attempt, error } satisfies JobFailure);
    return {
      delivery: deliveryIn(row),
      attempt,
      isLastAttempt: isLastRun || attempt >= maxRuns,
      maxRuns,
      abandonReason: abandonReason === undefined ? undefined : new Error(abandonReason),
      extendEvery: leaseFor / 3,
      extend: () => write('due_at = ?', (at) => [at + leaseFor]),
      transaction: {
        // The token stays, so that it may be repeated, and so that the run can tell that it was this one.
        completeIn: (tx) => {
          this.#transactions.checkFile();
          return completeIn(this.#db, this.#prefix, tx, {
            update: `UPDATE ${this.table} SET ${DONE}, due_at = ${String(this.now() + this.rememberFor)}`,
            where: `id = ${String(id)} AND token = ${literal(token)} AND state IN ('open', 'done')`,
          });
        },
        isCompleted: () =>
          this.run((sql) => {
            const done = `SELECT 1 FROM ${this.table} WHERE id = ? AND token = ? AND state = 'done'`;
            return sql.first(done, id, token) !== undefined;
          }),
      },
      complete: () => write(`${DONE}, token = NULL, due_at = ?`, (at) => [at + this.rememberFor]),
      retry: (error, reason) =>
        write(
          `due_at = ?, error = ?, ${ADD_FAILURE}, abandon_reason = ?, crashes = 0, token = NULL`,
          (at) => [at + backoff(attempt), error, failure(at, error), reason ?? null],
        ),
      moveToDead: (error) => {
        const set = `state = 'dead', due_at = ?, error = ?, ${ADD_FAILURE}, token = NULL`;
        return write(set, (at) => [at, error, failure(at, error)]);
      },
      release: () => write('due_at = ?, error = NULL, token = NULL', (at) => [at]),
    };
  }

  stats(): Promise<QueueStats> {
    return this.run((sql, at) => {
      const row = sql.first(
        `SELECT
           count(*) FILTER (WHERE state = 'open' AND due_at <= ?) AS waiting,
           count(*) FILTER (WHERE state = 'open' AND due_at > ? AND token IS NULL) AS delayed,
           count(*) FILTER (WHERE state = 'open' AND due_at > ? AND token IS NOT NULL) AS running,
           count(*) FILTER (WHERE state = 'done') AS done,
           count(*) FILTER (WHERE state = 'dead') AS dead
         FROM ${this.table}`,
        ...[at, at, at],
      );
      const count = (state: keyof QueueStats) => integer(row ?? {}, state);
      return {
        waiting: count('waiting'),
        delayed: count('delayed'),
        running: count('running'),
        done: count('done'),
        dead: count('dead'),
      };
    });
  }

  /** Dead jobs from `since` until before `until`, after one of them. Those that failed first come first. */
  async deadAfter(
    { failedAt, id }: { failedAt: number; id: number },
    { since, until }: { since: number; until: number },
    limit: number,
  ): Promise<DeadJobRecord[]> {
    const rows = await this.run((sql) =>
      sql.rows(
        `SELECT ${DEAD_JOB} FROM ${this.table}
         WHERE state = 'dead' AND due_at >= ? AND due_at < ? AND (due_at, id) > (?, ?)
         ORDER BY due_at, id LIMIT ?`,
        ...[since, until, failedAt, id, limit],
      ),
    );
    return rows.map(deadJob);
  }

  async dead(id: number): Promise<DeadJobRecord | undefined> {
    const found = `SELECT ${DEAD_JOB} FROM ${this.table} WHERE id = ? AND state = 'dead'`;
    const row = await this.run((sql) => sql.first(found, id));
    return row && deadJob(row);
  }

  async retryDead(id: number): Promise<boolean> {
    const set = `state = 'open', due_at = ?, crashes = 0, abandon_reason = NULL, error = NULL, is_last_run = 1`;
    const wasDead = await this.#update(set, `id = ? AND state = 'dead'`, (at) => [at, id]);
    this.#wakeListeners();
    return wasDead;
  }

  discardDead(id: number): Promise<boolean> {
    const values = (at: number) => [at + this.rememberFor, id];
    return this.#update(`${DONE}, due_at = ?`, `id = ? AND state = 'dead'`, values);
  }

  /** As `discardDead`, of what failed last before a time. */
  removeExpired({ before, limit, token, leaseMs }: RemovalTurn): Promise<number | undefined> {
    return this.run((sql, at) => {
      const turn = { name: `${this.table} removal`, token, leaseMs, at };
      if (!takeTurn(sql, this.#prefix, turn)) return undefined;
      const dead = `SELECT id FROM ${this.table} WHERE state = 'dead' AND due_at < ?
        ORDER BY due_at, id LIMIT ?`;
      const discard = `UPDATE ${this.table} SET ${DONE}, due_at = ? WHERE id IN (${dead})
        RETURNING 1 AS "removed"`;
      return sql.rows(discard, at + this.rememberFor, before.getTime(), limit).length;
    });
  }

  ping(): Promise<void> {
    return this.#transactions.probe();
  }

  #wakeListeners(): void {
    for (const listener of this.listeners) listener();
  }

  #update(set: string, where: string, values: (at: number) => unknown[]): Promise<boolean> {
    const update = `UPDATE ${this.table} SET ${set} WHERE ${where}`;
    return this.run((sql, at) => sql.change(update, ...values(at)));
  }

  /** @param work is given the time; milliseconds since the epoch */
  run<T>(work: (sql: Statements, at: number) => T): Promise<T> {
    return this.#transactions.run((sql) => work(sql, this.now()));
  }
}

const deliveryIn = (row: Row) => JSON.parse(text(row, 'delivery')) as QueuedDelivery;

const deadJob = (row: Row): DeadJobRecord => ({
  id: String(integer(row, 'id')),
  delivery: deliveryIn(row),
  attempt: integer(row, 'attempt'),
  error: text(row, 'error'),
  failedAt: new Date(integer(row, 'failedAt')),
  failures: JSON.parse(text(row, 'failures')) as JobFailure[],
});
