import type { DeadLetters, StoredDeadLetter } from '@call-webhooks/core';
import {
  checkDeadLetterQuery,
  type CheckedDeadLetterQuery,
  checkOptions,
  deadLetterPage,
  fromRecord,
  type ListedDeadLetter,
  option,
  toFailureJson,
  toRecord,
  withBody,
  withFailure,
} from '@call-webhooks/core/stores';
import {
  checkDatabase,
  integer,
  type Statements,
  text,
  textOrNull,
  type Row,
  type SqliteDatabase,
} from './database.ts';
import { sqliteOptionRules, type SqliteOptions } from './schema.ts';
import { Transactions } from './transactions.ts';
import { takeTurn } from './turn.ts';

/** The options of `sqliteDeadLetters`. */
export interface SqliteDeadLettersOptions extends Pick<SqliteOptions, 'prefix' | 'now'> {
  /**
   * How long a letter is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10 years.
   * By default, letters are kept until they are redriven or removed. The receiver or the worker that
   * has these dead letters removes the expired ones.
   */
  keepFor?: number | undefined;
}

/**
 * Creates a dead-letter store in a SQLite file, which any number of processes on one machine can share.
 * The methods reject with the client's error.
 *
 * You own the database handle, and close it. It may be the handle of `sqliteStore`.
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
  const rules = { prefix: prefixRule, now: nowRule, keepFor: option.keepFor() };
  const settings = checkOptions('sqliteDeadLetters', rules, options);
  const { prefix, keepFor, now = () => Date.now() } = settings;
  checkDatabase('sqliteDeadLetters', db);
  const transactions = new Transactions(db, prefix);
  const letters = `${prefix}dead_letters`;
  const columns = 'id, letter, failures, token, claimed_until AS "claimedUntil"';
  const held = 'id = ? AND token = ? AND claimed_until > ?';
  // The event name, the reason and the tenant are each given twice.
  const matches = `failed_at >= ? AND failed_at < ? AND (? IS NULL OR event_name = ?)
    AND (? IS NULL OR reason = ?) AND (? IS NULL OR tenant = ?)`;
  const find = (sql: Statements, id: string) => {
    const row = sql.first(`SELECT ${columns}, body FROM ${letters} WHERE id = ?`, id);
    return row && { ...keptIn(row), body: text(row, 'body') };
  };

  const isClaimed = ({ token, claimedUntil }: Kept) => token !== undefined && claimedUntil > now();
  const letterOf = (kept: Kept): ListedDeadLetter =>
    fromRecord(
      kept.id,
      kept.letter,
      kept.failures,
      isClaimed(kept) ? new Date(kept.claimedUntil) : undefined,
    );

  const wholeLetter = (kept: Kept & { body: string }): StoredDeadLetter =>
    withBody(letterOf(kept), kept.body);

  return {
    keepFor,
    removeExpired: ({ before, limit, token, leaseMs }) =>
      transactions.run((sql) => {
        const turn = { name: `${letters} removal`, token, leaseMs, at: now() };
        if (!takeTurn(sql, prefix, turn)) return undefined;
        const expired = `SELECT id FROM ${letters} WHERE failed_at < ? AND (token IS NULL OR claimed_until <= ?)
           ORDER BY failed_at, id LIMIT ?`;
        const remove = `DELETE FROM ${letters} WHERE id IN (${expired}) RETURNING 1 AS "removed"`;
        return sql.rows(remove, before.getTime(), now(), limit).length;
      }),
    ping: () => transactions.probe(),
    async put(letter) {
      const { id, failedAt, reason, eventName, tenant, ...texts } = await toRecord(letter);
      await transactions.run((sql) => {
        const failures = failuresJson(find(sql, id), texts.failure);
        return sql.change(
          `INSERT OR REPLACE INTO ${letters}
             (id, failed_at, reason, event_name, tenant, letter, body, failures)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[id, failedAt, reason, eventName, tenant, texts.letter, texts.body, failures],
        );
      });
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      const { after = { failedAt: -1, id: '' }, limit } = checked;
      const rows = await transactions.run((sql) =>
        sql.rows(
          `SELECT ${columns} FROM ${letters} WHERE ${matches} AND (failed_at, id) > (?, ?)
           ORDER BY failed_at, id LIMIT ?`,
          ...[...conditions(checked), after.failedAt, after.id, limit + 1],
        ),
      );
      return deadLetterPage(
        rows.map((row) => letterOf(keptIn(row))),
        limit,
      );
    },
    count(filter) {
      const values = conditions(checkDeadLetterQuery(filter));
      return transactions.run((sql) => {
        const row = sql.first(
          `SELECT count(*) AS "count" FROM ${letters} WHERE ${matches}`,
          ...values,
        );
        return integer(row ?? {}, 'count');
      });
    },
    async get(id) {
      const kept = await transactions.run((sql) => find(sql, id));
      return kept && wholeLetter(kept);
    },
    remove: (id) =>
      transactions.run((sql) => sql.change(`DELETE FROM ${letters} WHERE id = ?`, id)),
    claim: (id, { token, leaseMs }) =>
      transactions.run((sql) => {
        const kept = find(sql, id);
        if (!kept || (isClaimed(kept) && kept.token !== token)) return undefined;
        const claimedUntil = Math.ceil(now() + leaseMs);
        const claim = `UPDATE ${letters} SET token = ?, claimed_until = ? WHERE id = ?`;
        sql.change(claim, token, claimedUntil, id);
        return wholeLetter({ ...kept, token, claimedUntil });
      }),
    extend: (id, token, leaseMs) =>
      transactions.run((sql) => {
        const extend = `UPDATE ${letters} SET claimed_until = ? WHERE ${held}`;
        return sql.change(extend, Math.ceil(now() + leaseMs), id, token, now());
      }),
    settle: (id, token) =>
      transactions.run((sql) =>
        sql.change(`DELETE FROM ${letters} WHERE ${held}`, id, token, now()),
      ),
    giveBack: (id, token, failure) =>
      transactions.run((sql) => {
        const release = `UPDATE ${letters} SET token = NULL WHERE ${held}`;
        if (!sql.change(release, id, token, now())) return false;
        if (!failure) return true;
        const failures = failuresJson(find(sql, id), toFailureJson(failure));
        const fail = `UPDATE ${letters} SET failed_at = ?, failures = ? WHERE id = ?`;
        return sql.change(fail, failure.at.getTime(), failures, id);
      }),
  };
}

/** A dead letter as it is kept. */
interface Kept {
  readonly id: string;
  readonly letter: string;
  readonly failures: readonly string[];
  readonly token: string | undefined;
  readonly claimedUntil: number;
}

const keptIn = (row: Row): Kept => ({
  id: text(row, 'id'),
  letter: text(row, 'letter'),
  failures: JSON.parse(text(row, 'failures')) as string[],
  token: textOrNull(row, 'token'),
  claimedUntil: integer(row, 'claimedUntil'),
});

const failuresJson = (kept: Kept | undefined, failure: string): string =>
  JSON.stringify(withFailure(kept?.failures ?? [], failure));

function conditions({ since, until, ...query }: CheckedDeadLetterQuery) {
  const { eventName = null, reason = null, tenant = null } = query;
  return [since, until, eventName, eventName, reason, reason, tenant, tenant];
}
