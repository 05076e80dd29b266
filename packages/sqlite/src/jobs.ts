import { randomUUID } from 'node:crypto';
import type { QueuedDelivery } from '@call-webhooks/core';
import type { SqliteDatabase } from './database.ts';
import { jobSchema, jobStatements } from './job-statements.ts';
import { keyText } from './key-text.ts';
import { checkedPrefix } from './prefix.ts';
import { Transactions } from './transactions.ts';

/** How many jobs are in which state. */
export interface QueueStats {
  /** May be run now. */
  waiting: number;
  /** Failed, and wait for their next attempt. */
  delayed: number;
  /** A worker has a live lease on them. */
  running: number;
  /** Handled, and remembered as duplicates. */
  done: number;
  /** Given up on. */
  dead: number;
}

/** A job that was given up on. */
export interface DeadJob {
  id: number;
  delivery: QueuedDelivery;
  attempt: number;
  /** Scrubbed of values of the payload. */
  error: string;
  failedAt: Date;
}

/** A job under a lease. */
export interface TakenJob {
  id: number;
  token: string;
  attempt: number;
  delivery: QueuedDelivery;
}

export interface JobsOptions {
  prefix?: string | undefined;
  rememberFor?: number | undefined;
  now?: (() => number) | undefined;
}

type Row = Record<string, unknown>;
const SWEEP_EVERY = 100;
const SWEEP_ROWS = 500;
const DAY_MS = 86_400_000;

/** The table of jobs: what queue and worker share. Each call is one transaction. */
export class Jobs {
  readonly now: () => number;
  /** Told of new jobs: the workers of this process. */
  readonly listeners = new Set<() => void>();
  readonly #transactions: Transactions;
  readonly #prepare: () => ReturnType<typeof jobStatements>;
  readonly #rememberFor: number;
  #statements: ReturnType<typeof jobStatements> | undefined;
  #added = 0;

  constructor(db: SqliteDatabase, { prefix, rememberFor = DAY_MS, now = Date.now }: JobsOptions) {
    const names = checkedPrefix(prefix);
    this.now = now;
    this.#rememberFor = rememberFor;
    this.#transactions = new Transactions(db, jobSchema(names));
    this.#prepare = () => jobStatements(db, names);
  }

  async add(delivery: QueuedDelivery): Promise<void> {
    const { key, webhookId } = delivery;
    const event = key === undefined ? `webhook ${webhookId}` : `event ${keyText(key)}`;
    await this.#run((sql) => {
      const at = this.now();
      if (this.#added++ % SWEEP_EVERY === 0) sql.sweep.run(at, SWEEP_ROWS);
      sql.add.run(event, at, JSON.stringify(delivery));
    });
    for (const listener of this.listeners) listener();
  }

  /**
   * Leases up to `most` jobs that are due, and tells when the next one will be.
   * @param running ids of jobs that the caller runs: while somebody held the lock of the file, their
   *   leases may have run out, and they are not to be run beside themselves
   */
  take(
    most: number,
    leaseMs: number,
    running: Iterable<number>,
  ): Promise<{ jobs: TakenJob[]; nextIn: number | undefined }> {
    return this.#run((sql) => {
      const at = this.now();
      const token = randomUUID();
      const ours = JSON.stringify([...running]);
      const rows = sql.take.all(token, at + leaseMs, at, ours, most) as Row[];
      const jobs = rows.map((row) => ({
        id: Number(row['id']),
        token,
        attempt: Number(row['attempt']),
        delivery: JSON.parse(String(row['delivery'])) as QueuedDelivery,
      }));
      const [next] = sql.nextDue.all(ours) as Row[];
      const dueAt = next?.['dueAt'] ?? undefined;
      return { jobs, nextIn: dueAt === undefined ? undefined : Number(dueAt) - at };
    });
  }

  // `false` of the following four: the lease was lost, and nothing was changed.

  extend({ id, token }: TakenJob, leaseMs: number): Promise<boolean> {
    return this.#run((sql) => sql.extend.all(this.now() + leaseMs, id, token).length > 0);
  }

  done({ id, token }: TakenJob): Promise<boolean> {
    return this.#run((sql) => sql.done.all(this.now() + this.#rememberFor, id, token).length > 0);
  }

  again({ id, token }: TakenJob, inMs: number, error: string | null): Promise<boolean> {
    return this.#run((sql) => sql.again.all(this.now() + inMs, error, id, token).length > 0);
  }

  dead({ id, token }: TakenJob, error: string): Promise<boolean> {
    return this.#run((sql) => sql.dead.all(this.now(), error, id, token).length > 0);
  }

  stats(): Promise<QueueStats> {
    return this.#run((sql) => {
      const at = this.now();
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
    return this.#run((sql) =>
      (sql.deadLetters.all(limit) as Row[]).map((row) => ({
        id: Number(row['id']),
        delivery: JSON.parse(String(row['delivery'])) as QueuedDelivery,
        attempt: Number(row['attempt']),
        error: String(row['error']),
        failedAt: new Date(Number(row['failedAt'])),
      })),
    );
  }

  async revive(id: number): Promise<boolean> {
    const revived = await this.#run((sql) => sql.revive.all(this.now(), id).length > 0);
    for (const listener of this.listeners) listener();
    return revived;
  }

  bury(id: number): Promise<boolean> {
    return this.#run((sql) => sql.bury.all(this.now() + this.#rememberFor, id).length > 0);
  }

  ping(): Promise<void> {
    return this.#run(() => undefined);
  }

  #run<T>(work: (sql: ReturnType<typeof jobStatements>) => T): Promise<T> {
    return this.#transactions.run(() => work((this.#statements ??= this.#prepare())));
  }
}
