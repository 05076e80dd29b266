import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import {
  checkDeadLetterQuery,
  deadLetterPage,
  fromRecord,
  MAX_FAILURES,
  toFailureJson,
  toRecord,
  type CheckedDeadLetterQuery,
} from '@call-webhooks/core/stores';
import { checkOptions } from '@call-webhooks/core/internal';
import { checkDatabase, type SqliteDatabase } from './database.ts';
import { deadLetterSchema, deadLetterStatements } from './dead-letter-statements.ts';
import { sqliteOptionRules, type SqliteOptions } from './options.ts';
import { Transactions } from './transactions.ts';

/** Options of `sqliteDeadLetters`. */
export type SqliteDeadLettersOptions = Pick<SqliteOptions, 'prefix' | 'now'>;

interface Row {
  id: string;
  letter: string;
  /** A JSON list of texts. */
  failures: string;
  token: string | null;
  claimedUntil: number | bigint;
}

/**
 * Keeps dead letters in a SQLite file, which any number of processes of one machine can share. Its
 * methods reject with the client's error.
 *
 * The handle stays yours to close. It may be the one of `sqliteStore`.
 * @throws WebhookError `invalid-options`
 * @example
 * const db = new Database('calls.db');
 * const hook = callWebhooks({ secret, store: sqliteStore(db), deadLetter: sqliteDeadLetters(db), on });
 */
export function sqliteDeadLetters(
  db: SqliteDatabase,
  options: SqliteDeadLettersOptions = {},
): DeadLetters {
  const { prefix: prefixRule, now: nowRule } = sqliteOptionRules();
  const rules = { prefix: prefixRule, now: nowRule };
  const { prefix, now = () => Date.now() } = checkOptions('sqliteDeadLetters', rules, options);
  checkDatabase('sqliteDeadLetters', db);
  const transactions = new Transactions(db, deadLetterSchema(prefix));
  let statements: ReturnType<typeof deadLetterStatements> | undefined;
  const run = <T>(work: (sql: ReturnType<typeof deadLetterStatements>) => T) =>
    transactions.run(() => work((statements ??= deadLetterStatements(db, prefix))));

  const isClaimed = ({ token, claimedUntil }: Row) =>
    token !== null && Number(claimedUntil) > now();
  const letterOf = (row: Row): StoredDeadLetter =>
    fromRecord(
      row.id,
      row.letter,
      failuresOf(row),
      isClaimed(row) ? new Date(Number(row.claimedUntil)) : undefined,
    );

  return {
    async put(letter) {
      const { id, failedAt, reason, eventName, tenant, ...texts } = await toRecord(letter);
      await run((sql) => {
        const [known] = sql.get.all(id) as Row[];
        const failures = withFailure(known, texts.failure);
        sql.put.run(id, failedAt, reason, eventName, tenant, texts.letter, failures);
      });
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      const { after = { failedAt: -1, id: '' }, limit } = checked;
      const rows = await run(
        (sql) => sql.list.all(...conditions(checked), after.failedAt, after.id, limit + 1) as Row[],
      );
      return deadLetterPage(rows.map(letterOf), limit);
    },
    async count(filter) {
      const checked = checkDeadLetterQuery(filter);
      const [row] = await run(
        (sql) => sql.count.all(...conditions(checked)) as { count: unknown }[],
      );
      return Number(row?.count);
    },
    async get(id) {
      const [row] = await run((sql) => sql.get.all(id) as Row[]);
      return row && letterOf(row);
    },
    remove: (id) => run((sql) => sql.remove.all(id).length > 0),
    claim: (id, { token, leaseMs }) =>
      run((sql) => {
        const [row] = sql.get.all(id) as Row[];
        if (!row || (isClaimed(row) && row.token !== token)) return undefined;
        const claimedUntil = Math.ceil(now() + leaseMs);
        sql.claim.run(token, claimedUntil, id);
        return letterOf({ ...row, token, claimedUntil });
      }),
    extend: (id, token, leaseMs) =>
      run((sql) => sql.extend.all(Math.ceil(now() + leaseMs), id, token, now()).length > 0),
    settle: (id, token) => run((sql) => sql.settle.all(id, token, now()).length > 0),
    giveBack: (id, token, failure) =>
      run((sql) => {
        if (!failure) return sql.release.all(id, token, now()).length > 0;
        const [row] = sql.held.all(id, token, now()) as Row[];
        if (!row) return false;
        sql.fail.run(failure.at.getTime(), withFailure(row, toFailureJson(failure)), id);
        return true;
      }),
  };
}

const failuresOf = ({ failures }: Row) => JSON.parse(failures) as string[];

const withFailure = (row: Row | undefined, failure: string): string =>
  JSON.stringify([...(row ? failuresOf(row) : []), failure].slice(-MAX_FAILURES));

function conditions({ since, until, ...query }: CheckedDeadLetterQuery) {
  const { eventName = null, reason = null, tenant = null } = query;
  return [since, until, eventName, eventName, reason, reason, tenant, tenant];
}
