import type { Logger, Store } from '@call-webhooks/core';
import { storableKey } from '@call-webhooks/core/stores';
import { checkOptions, option, safeLogger } from '@call-webhooks/core/internal';
import { checkClient, rowsOf, run, type PostgresClient } from './client.ts';
import { migrationSql, schemaOption } from './schema.ts';
import { statements } from './statements.ts';
import { StoreCalls } from './store-calls.ts';
import { Sweeper } from './sweeper.ts';
import { completeIn, refuseOwnClient, type PostgresTransaction } from './transaction.ts';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The schema of the tables; `call_webhooks` by default. Lower-case letters, digits and `_`. */
  schema?: string | undefined;
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
  schema: schemaOption(),
  rememberFor: option.rememberFor(),
  now: option.optional(option.function<() => number>()),
  logger: option.default(option.object<Logger>('warn', 'error'), () => console),
});

/** A store in Postgres, for any number of machines. */
export interface PostgresStore extends Store {
  /**
   * Creates the schema and the tables if they are missing. Safe to run at every start, and on several
   * machines at once. Rejects with the client's error.
   */
  migrate(): Promise<void>;
  /**
   * Deletes up to 1,000 old rows of each table and resolves with their number. The store does this
   * after every hundredth claim. Rejects with the client's error.
   */
  sweep(): Promise<number>;
  /**
   * Marks the event as done with a statement of your own transaction, as `context.completeIn` does.
   * Resolves with `false` if the lease was lost. Rejects with the client's error.
   * @throws WebhookError `invalid-options` for what is no transaction
   */
  completeIn(tx: PostgresTransaction, key: string, token: string): Promise<boolean>;
  /** Resolves when the server answers. Rejects with the client's error. */
  ping(): Promise<void>;
  /** Waits for a running sweep. Close the client afterwards. */
  close(): Promise<void>;
}

/**
 * Keeps webhook ids and events in Postgres 12 or newer, for any number of machines. The claims of one
 * turn of the event loop are one statement in one round trip, as are its commits, on the server's clock.
 *
 * The client stays yours: give it timeouts (`connectionTimeoutMillis`, `query_timeout`), listen to the
 * `error` event of a pool, and close it after `receiver.close()` and `store.close()`.
 * @throws WebhookError `invalid-options`
 * @example
 * const store = postgresStore(new Pool({ connectionTimeoutMillis: 1_000, query_timeout: 1_000 }));
 * await store.migrate();
 * const hook = callWebhooks({ secret, store });
 */
export function postgresStore(
  client: PostgresClient,
  options: PostgresStoreOptions = {},
): PostgresStore {
  const settings = checkOptions('postgresStore', rules(), options);
  checkClient('postgresStore', client);
  const { schema, rememberFor, now = () => Date.now() } = settings;
  const sql = statements(schema);
  const sweep = async () => {
    const rows = await rowsOf<{ removed: number }>(client, sql.sweep, [1_000], ['removed']);
    return rows[0]?.removed ?? 0;
  };
  const sweeper = new Sweeper(sweep, safeLogger(settings.logger));
  const calls = new StoreCalls(client, sql, rememberFor);
  const change = async (text: string, key: string, ...values: unknown[]) =>
    calls.change(text, await storableKey(key), ...values);

  return {
    rememberFor,
    async admit({ webhookId, replayUntil, key, leaseMs, token, group }) {
      const keepIdMs = Math.max(1, replayUntil - now());
      const id = await storableKey(webhookId);
      const claim = {
        id,
        token,
        keepIdMs,
        key: key === undefined ? null : await storableKey(key),
        leaseMs,
      };
      const { status, attempt } = await (group === undefined
        ? calls.admit(claim)
        : calls.admitInGroup(claim, await storableKey(group)));
      sweeper.count();
      return status === 'admitted' ? { status, attempt } : { status };
    },
    async complete(key, token, mark) {
      return calls.complete(await storableKey(key), token, mark !== undefined);
    },
    async completeIn(tx, key, token) {
      if (tx === client) refuseOwnClient(tx);
      return completeIn(tx, sql.completion(await storableKey(key), token));
    },
    release: (key, token) => change(sql.release, key, token),
    extend: (key, token, leaseMs) => change(sql.extend, key, token, leaseMs),
    reopen: (key) => change(sql.reopen, key),
    async loadCursor(name) {
      const values = [await storableKey(name)];
      return (await rowsOf<{ cursor: string }>(client, sql.loadCursor, values, ['cursor']))[0]
        ?.cursor;
    },
    async saveCursor(name, cursor) {
      const key = await storableKey(name);
      if (cursor === undefined) await run(client, sql.removeCursor, [key]);
      else await run(client, sql.saveCursor, [key, cursor]);
    },
    async migrate() {
      await client.query(migrationSql({ schema }));
    },
    sweep,
    async ping() {
      await client.query('SELECT 1');
    },
    close: () => sweeper.idle(),
  };
}
