import type { Admission, Store } from '@call-webhooks/core';
import { rowsOf, type PostgresClient } from './client.ts';
import { explained } from './explained.ts';
import { keyText } from './key-text.ts';
import { checkedSchema, migrationSql } from './schema.ts';
import { statements } from './statements.ts';
import { Sweeper } from './sweeper.ts';

export interface PostgresStoreOptions {
  /** Where the two tables are; `call_webhooks` by default. Lower-case letters, digits and `_`. */
  schema?: string | undefined;
  /** How long a handled event is known as a duplicate; milliseconds, 24 hours by default, at least 10 minutes. */
  rememberFor?: number | undefined;
  /** The receiver's clock, in milliseconds, that `replayUntil` is read against; `Date.now` by default. */
  now?: (() => number) | undefined;
}

/** A store in Postgres, for any number of machines. */
export interface PostgresStore extends Store {
  /**
   * Makes the schema and the tables where they are missing. Safe to run at every start, and by
   * several machines at once. Rejects with the client's error.
   */
  migrate(): Promise<void>;
  /**
   * Removes up to 1,000 old rows of each table and tells how many went. The store does so by itself
   * at every hundredth claim. Rejects with the client's error.
   */
  sweep(): Promise<number>;
  /** Resolves when the server answers; rejects with the client's error. */
  ping(): Promise<void>;
  /** Waits for a sweep that is running. Then end the client. */
  close(): Promise<void>;
}

const DAY_MS = 86_400_000;
const LEAST_MS = 600_000; // above the longest lease

/**
 * The store for many machines on Postgres 12 or newer. Each call is one statement, one round trip,
 * on the server's clock.
 *
 * The client stays yours: give it time limits (`connectionTimeoutMillis`, `query_timeout`), listen
 * to the `error` event of a pool, and end it after `receiver.close()` and `store.close()`.
 * @throws WebhookError `invalid-options`
 */
export function postgresStore(
  client: PostgresClient,
  { schema, rememberFor = DAY_MS, now = Date.now }: PostgresStoreOptions = {},
): PostgresStore {
  const sql = statements(checkedSchema(schema));
  const keepMs = Math.max(rememberFor, LEAST_MS);
  const query = <Row>(text: string, values: unknown[]) =>
    rowsOf<Row>(client, text, values).catch((error: unknown) => {
      throw explained(error);
    });
  const sweep = async () => (await query<{ removed: number }>(sql.sweep, [1_000]))[0]?.removed ?? 0;
  const sweeper = new Sweeper(sweep);
  const holds = async (text: string, key: string, ...values: unknown[]) =>
    (await query(text, [keyText(key), ...values])).length > 0;

  return {
    async admit({ webhookId, replayUntil, key, leaseMs, token }) {
      const keepIdMs = Math.max(1, replayUntil - now());
      const text = key === undefined ? null : keyText(key);
      const values = [webhookId, token, keepIdMs, text, leaseMs, keepMs];
      const [row] = await query<Admission & { attempt: number }>(sql.admit, values);
      if (!row) throw new Error('Postgres gave no row for a claim.');
      sweeper.count();
      const { status, attempt } = row;
      return status === 'admitted' ? { status, attempt } : { status };
    },
    complete: (key, token) => holds(sql.complete, key, token),
    release: (key, token) => holds(sql.release, key, token),
    extend: (key, token, leaseMs) => holds(sql.extend, key, token, leaseMs),
    async migrate() {
      await rowsOf(client, migrationSql({ schema }));
    },
    sweep,
    async ping() {
      await rowsOf(client, 'SELECT 1');
    },
    close: () => sweeper.idle(),
  };
}
