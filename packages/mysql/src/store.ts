import type { Logger, Store } from '@call-webhooks/core';
import {
  type Admission,
  checkOptions,
  type EventState,
  option,
  storableKey,
  sweepingBeside,
} from '@call-webhooks/core/stores';
import { randomUUID } from 'node:crypto';
import { mysqlOutcomeLog } from './outcome-log.ts';
import { Connections, numberOf, oddAnswer, textOf, type MysqlPool } from './pool.ts';
import { prefixOption, type Migration } from './schema.ts';
import { Tables } from './tables.ts';
import { completeIn, type MysqlTransaction } from './transaction.ts';

/** Options of `mysqlStore`. */
export interface MysqlStoreOptions {
  /**
   * What the names of the tables and procedures begin with; `call_webhooks_` by default. Lower-case letters,
   * digits and `_`, 40 at most.
   */
  prefix?: string | undefined;
  /**
   * How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least
   * 10 minutes.
   */
  rememberFor?: number | undefined;
  /**
   * The receiver's clock, in milliseconds since the epoch, which `replayUntil` is read against;
   * `Date.now` by default. Everything else uses the server's clock.
   */
  now?: (() => number) | undefined;
  /** Gets a warning if old rows can't be deleted; `console` by default. */
  logger?: Logger | undefined;
}

const rules = () => ({
  prefix: prefixOption(),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/** A store in MySQL or MariaDB, for any number of machines. */
export interface MysqlStore extends Store {
  /**
   * Creates the tables and procedures if they are missing, and tells their versions before and now. Safe to
   * run at every start, and on several machines at once. Rejects with the client's error.
   * @throws WebhookError `invalid-options` if the tables are those of a newer release
   */
  migrate(): Promise<Migration>;
  /**
   * Deletes up to 1,000 old rows of each table and resolves with their number. The store does this
   * after every hundredth claim. Rejects with the client's error.
   */
  sweep(): Promise<number>;
  /**
   * Marks the event as done with statements of your own transaction, as `context.completeIn` does.
   * Resolves with `false` if the lease was lost. Rejects with the client's error.
   * @throws WebhookError `invalid-options` for what is no transaction
   */
  completeIn(tx: MysqlTransaction, key: string, token: string): Promise<boolean>;
  /**
   * Resolves when a delivery could be kept: it writes a row into each table of events, and deletes it.
   * Rejects with the client's error.
   */
  ping(): Promise<void>;
  /** Waits for a running sweep. Close the pool afterwards. */
  close(): Promise<void>;
}

const SWEPT_AT_ONCE = 1_000;

/**
 * A store in MySQL 8 or MariaDB 10.6, or newer. Each call is a stored procedure: one round trip, and one
 * transaction. Everything but `replayUntil` is decided by the server's clock.
 * @param pool a pool of mysql2, whose connections have a default database
 * @throws WebhookError `invalid-options`
 * @example
 * const store = mysqlStore(createPool({ uri: process.env.DATABASE_URL, connectTimeout: 1_000 }));
 * await store.migrate();
 * const hook = callWebhooks({ secret, store });
 */
export function mysqlStore(pool: MysqlPool, options: MysqlStoreOptions = {}): MysqlStore {
  const settings = checkOptions('mysqlStore', rules(), options);
  const { prefix, rememberFor, logger, now = () => Date.now() } = settings;
  const tables = new Tables(new Connections('mysqlStore', pool), prefix);
  const end = async (key: string, token: string, how: string) =>
    tables.yes('end_lease', await storableKey(key), token, how);

  async function sweep(): Promise<number> {
    let deleted = 0;
    for (const table of ['webhook_ids', 'events', 'event_groups'])
      deleted += await tables.number(`sweep_${table}`, [SWEPT_AT_ONCE]);
    return deleted;
  }
  const sweeper = sweepingBeside({
    sweep,
    logger,
    database: 'MySQL',
    docs: 'stores.md#mysql-and-mariadb',
  });

  return {
    name: 'MySQL',
    rememberFor,
    async admit({ webhookId, replayUntil, key, leaseMs, token, group, within }) {
      const keepIdMs = Math.max(1, replayUntil - now());
      const eventKey = key === undefined ? null : await storableKey(key);
      const groupId = group === undefined ? null : await storableKey(group);
      const values = [
        await storableKey(webhookId),
        token,
        keepIdMs,
        eventKey,
        leaseMs,
        rememberFor,
      ];
      const [row] = await tables.call('admit', [...values, groupId], within);
      sweeper.count();
      return admissionOf(row);
    },
    complete: (key, token, mark) => end(key, token, mark ?? 'done'),
    release: (key, token) => end(key, token, 'released'),
    async completeIn(tx, key, token) {
      return completeIn(tx, {
        ...(await tables.found()),
        prefix,
        key: await storableKey(key),
        token,
      });
    },
    extend: async (key, token, leaseMs) =>
      tables.yes('extend', await storableKey(key), token, leaseMs),
    reopen: async (key) => tables.yes('reopen', await storableKey(key)),
    async forget(keys) {
      let known = 0;
      for (const key of keys) if (await tables.yes('forget', await storableKey(key))) known += 1;
      return known;
    },
    async peek(keys) {
      const stored = await Promise.all(keys.map(async (key) => storableKey(key)));
      const hex = stored.map((key) => Buffer.from(key).toString('hex'));
      const rows = await tables.call('peek', [JSON.stringify(hex)]);
      const states = new Map(
        rows.map(([key, state]) => [textOf(key), textOf(state) as EventState]),
      );
      return stored.map((key) => states.get(key));
    },
    log: mysqlOutcomeLog(tables),
    async loadCursor(name) {
      const [row] = await tables.call('load_cursor', [await storableKey(name)]);
      return row && textOf(row[0]);
    },
    async saveCursor(name, cursor) {
      await tables.call('save_cursor', [await storableKey(name), cursor ?? null]);
    },
    migrate: () => tables.migrate(),
    sweep,
    async ping() {
      await tables.call('probe', [`health ${randomUUID()}`]);
    },
    close: () => sweeper.idle(),
  };
}

const STATUSES = [
  ...['admitted', 'duplicate', 'dead-lettered', 'in-progress', 'group-busy', 'replayed'],
];

/** @throws Error for what is no answer to a claim */
function admissionOf([status, attempt]: readonly unknown[] = []): Admission {
  if (typeof status !== 'string' || !STATUSES.includes(status)) throw oddAnswer();
  if (status !== 'admitted') return { status } as Admission;
  return { status, attempt: numberOf(attempt) };
}
