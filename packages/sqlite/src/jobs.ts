import { randomUUID } from 'node:crypto';
import type { QueuedDelivery } from '@call-webhooks/core';
import { storableKey } from '@call-webhooks/core/stores';
import { checkOptions, tenantKey } from '@call-webhooks/core/internal';
import { ClockSteps } from './clock-steps.ts';
import { checkDatabase, type SqliteDatabase } from './database.ts';
import {
  deadJob,
  failureJson,
  takenJob,
  type DeadJob,
  type DeadRange,
  type QueueStats,
  type Row,
  type TakenJob,
} from './job-rows.ts';
import { completeIn } from './complete-in.ts';
import { jobCompletion, jobSchema, jobStatements } from './job-statements.ts';
import { sqliteOptionRules, type SqliteOptions } from './options.ts';
import { Transactions } from './transactions.ts';

/** No worker may ask for a longer lease; milliseconds. */
export const MAX_LEASE_MS = 900_000;
const SWEEP_EVERY = 100;
const SWEEP_ROWS = 500;

/** The table of jobs, which queue and worker share. Each call is one transaction. */
export class Jobs {
  /** Called for new jobs: the workers of this process. */
  readonly listeners = new Set<() => void>();
  readonly #now: () => number;
  readonly #clock = new ClockSteps();
  readonly #transactions: Transactions;
  readonly #prepare: () => ReturnType<typeof jobStatements>;
  readonly #rememberFor: number;
  readonly #db: SqliteDatabase;
  readonly #prefix: string;
  #statements: ReturnType<typeof jobStatements> | undefined;
  #added = 0;

  constructor(db: SqliteDatabase, options: SqliteOptions) {
    const { prefix, rememberFor, now } = checkOptions('sqliteQueue', sqliteOptionRules(), options);
    checkDatabase('sqliteQueue', db);
    this.#now = now ?? (() => Date.now());
    this.#rememberFor = rememberFor;
    this.#db = db;
    this.#prefix = prefix;
    this.#transactions = new Transactions(db, jobSchema(prefix));
    this.#prepare = () => jobStatements(db, prefix);
  }

  async add(delivery: QueuedDelivery): Promise<void> {
    const { tenant, key, webhookId } = delivery;
    const event =
      key === undefined
        ? `webhook ${await storableKey(tenantKey(tenant, webhookId))}`
        : `event ${await storableKey(key)}`;
    await this.#run((sql) => {
      const at = this.#now();
      if (this.#added++ % SWEEP_EVERY === 0) sql.sweep.run(at, SWEEP_ROWS);
      sql.add.run(event, at, JSON.stringify(delivery));
    });
    this.#wakeListeners();
  }

  /**
   * Leases up to `limit` jobs that are due, and says when the next one is.
   * @param settings the caller's lease in milliseconds, and its delay after each attempt
   * @param running ids of jobs that the caller runs. Their leases may have run out while another
   *   process held the file's lock, and a job must not run beside itself
   */
  take(
    limit: number,
    settings: { leaseFor: number; backoff: (attempt: number) => number },
    running: Iterable<number>,
  ): Promise<{ jobs: TakenJob[]; nextIn: number | undefined }> {
    return this.#run((sql) => {
      const at = this.#now();
      const leasedUntil = at + settings.leaseFor;
      if (this.#clock.wasSetBack(at)) {
        // A lease that long was made before the clock was set back: its worker may be dead.
        sql.shortenLeases.run(leasedUntil, at + MAX_LEASE_MS);
        sql.makeDue.run(at, at);
        for (const { attempt } of sql.delayedAttempts.all(at) as Row[]) {
          const dueAt = at + settings.backoff(Number(attempt));
          sql.shortenDelays.run(dueAt, dueAt, Number(attempt));
        }
      }
      const token = randomUUID();
      const ours = JSON.stringify([...running]);
      const rows = sql.take.all(token, leasedUntil, at, ours, limit) as Row[];
      const [next] = sql.nextDue.all(ours) as Row[];
      const dueAt = next?.['dueAt'] ?? undefined;
      return {
        jobs: rows.map((row) => takenJob(row, token)),
        nextIn: dueAt === undefined ? undefined : Number(dueAt) - at,
      };
    });
  }

  // Of a job whose lease was lost, the next six change nothing.

  /** @returns `false` if the lease was lost */
  extend({ id, token }: TakenJob, leaseMs: number): Promise<boolean> {
    return this.#run((sql) => sql.extend.all(this.#now() + leaseMs, id, token).length > 0);
  }

  complete({ id, token }: TakenJob): Promise<void> {
    return this.#run((sql) => void sql.complete.all(this.#now() + this.#rememberFor, id, token));
  }

  /** Completes it in a transaction of the user. A synchronous client answers, and throws, at once. */
  completeIn(tx: unknown, { id, token }: TakenJob): boolean | Promise<boolean> {
    const forgetAt = this.#now() + this.#rememberFor;
    return completeIn(this.#db, tx, jobCompletion(this.#prefix, id, token, forgetAt));
  }

  /** Whether it was completed with this token, in a transaction of the user. */
  isCompleted({ id, token }: TakenJob): Promise<boolean> {
    return this.#run((sql) => sql.isCompleted.all(id, token).length > 0);
  }

  retry(
    { id, token, attempt }: TakenJob,
    inMs: number,
    error: string,
    abandonReason: string | undefined,
  ): Promise<void> {
    return this.#run((sql) => {
      const at = this.#now();
      const failure = failureJson({ at, attempt, error });
      sql.retry.all(at + inMs, error, failure, abandonReason ?? null, id, token);
    });
  }

  release({ id, token }: TakenJob): Promise<void> {
    return this.#run((sql) => void sql.release.all(this.#now(), id, token));
  }

  moveToDead({ id, token, attempt }: TakenJob, error: string): Promise<void> {
    return this.#run((sql) => {
      const at = this.#now();
      sql.moveToDead.all(at, error, failureJson({ at, attempt, error }), id, token);
    });
  }

  stats(): Promise<QueueStats> {
    return this.#run((sql) => {
      const at = this.#now();
      const [row] = sql.stats.all(at, at, at) as Record<keyof QueueStats, unknown>[];
      const count = (name: keyof QueueStats) => Number(row?.[name] ?? 0);
      return {
        waiting: count('waiting'),
        delayed: count('delayed'),
        running: count('running'),
        done: count('done'),
        dead: count('dead'),
      };
    });
  }

  deadLetters(limit: number): Promise<DeadJob[]> {
    return this.#run((sql) => (sql.deadLetters.all(limit) as Row[]).map(deadJob));
  }

  deadAfter({ since, until, failedAt, id }: DeadRange, limit: number): Promise<DeadJob[]> {
    const range = [since, until, failedAt, id, limit];
    return this.#run((sql) => (sql.deadAfter.all(...range) as Row[]).map(deadJob));
  }

  dead(id: number): Promise<DeadJob | undefined> {
    return this.#run((sql) => (sql.dead.all(id) as Row[]).map(deadJob)[0]);
  }

  async retryDead(id: number): Promise<boolean> {
    const found = await this.#run((sql) => sql.retryDead.all(this.#now(), id).length > 0);
    this.#wakeListeners();
    return found;
  }

  discardDead(id: number): Promise<boolean> {
    return this.#run((sql) => sql.discardDead.all(this.#now() + this.#rememberFor, id).length > 0);
  }

  ping(): Promise<void> {
    return this.#run(() => undefined);
  }

  #wakeListeners(): void {
    for (const listener of this.listeners) listener();
  }

  #run<T>(work: (sql: ReturnType<typeof jobStatements>) => T): Promise<T> {
    return this.#transactions.run(() => work((this.#statements ??= this.#prepare())));
  }
}
