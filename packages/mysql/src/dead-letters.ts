import { randomUUID } from 'node:crypto';
import type { DeadLetters } from '@call-webhooks/core';
import {
  checkDeadLetterQuery,
  type CheckedDeadLetterQuery,
  checkOptions,
  deadLetterPage,
  fromRecord,
  type ListedDeadLetter,
  MAX_FAILURES,
  option,
  storableKey,
  toFailureJson,
  toRecord,
  withBody,
} from '@call-webhooks/core/stores';
import { Connections, numberOf, textOf, type MysqlPool, type Row } from './pool.ts';
import { prefixOption, type Migration } from './schema.ts';
import { Tables } from './tables.ts';

/** Options of `mysqlDeadLetters`. */
export interface MysqlDeadLettersOptions {
  /** As of `mysqlStore`, and it may be the same: `call_webhooks_` by default. */
  prefix?: string | undefined;
  /**
   * How long a letter is kept after its last failure, in milliseconds: 1 hour to 10 years. Without it, letters
   * are kept until they are redriven or removed. A receiver or a worker that has them removes the others.
   */
  keepFor?: number | undefined;
}

/** Dead letters in MySQL or MariaDB. */
export interface MysqlDeadLetters extends DeadLetters {
  /** The same as `migrate()` of `mysqlStore`: one of the two is enough. */
  migrate(): Promise<Migration>;
}

/**
 * Keeps dead letters in a table of MySQL 8 or MariaDB 10.6, or newer. Its methods reject with the client's
 * error.
 * @param pool as `mysqlStore` takes it; it may be the same
 * @throws WebhookError `invalid-options`
 * @example
 * const store = mysqlStore(pool);
 * await store.migrate();
 * const hook = callWebhooks({ secret, store, deadLetter: mysqlDeadLetters(pool), on });
 */
export function mysqlDeadLetters(
  pool: MysqlPool,
  options: MysqlDeadLettersOptions = {},
): MysqlDeadLetters {
  const rules = { prefix: prefixOption(), keepFor: option.keepFor() };
  const { prefix, keepFor } = checkOptions('mysqlDeadLetters', rules, options);
  const tables = new Tables(new Connections('mysqlDeadLetters', pool), prefix);
  const yes = async (name: string, id: string, ...values: Row) =>
    tables.yes(name, await storableKey(id), ...values);
  const wholeLetter = async (name: string, id: string, ...values: Row) => {
    const [row] = await tables.call(name, [await storableKey(id), ...values]);
    return row && withBody(letterOf(row), textOf(row[4]));
  };

  return {
    keepFor,
    async removeExpired({ before, limit, token, leaseMs }) {
      const [row = []] = await tables.call('remove_expired', [
        ...[before.getTime(), limit, token, leaseMs],
      ]);
      return row[0] === null ? undefined : numberOf(row[0]);
    },
    migrate: () => tables.migrate(),
    async ping() {
      await tables.call('probe_letters', [`health ${randomUUID()}`]);
    },
    async put(letter) {
      const { id, failedAt, reason, eventName, tenant, ...texts } = await toRecord(letter);
      const found = [failedAt, reason, eventName, tenant];
      const kept = [texts.letter, texts.failure, MAX_FAILURES, texts.body];
      await tables.call('put_letter', [await storableKey(id), ...found, ...kept]);
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      const { after = { failedAt: -1, id: '' }, limit } = checked;
      const values = [...conditions(checked), after.failedAt, after.id, limit + 1];
      return deadLetterPage((await tables.call('list_letters', values)).map(letterOf), limit);
    },
    count: async (filter) =>
      tables.number('count_letters', conditions(checkDeadLetterQuery(filter))),
    get: (id) => wholeLetter('get_letter', id),
    remove: (id) => yes('remove_letter', id),
    claim: (id, { token, leaseMs }) => wholeLetter('claim_letter', id, token, leaseMs),
    extend: (id, token, leaseMs) => yes('extend_letter', id, token, leaseMs),
    settle: (id, token) => yes('settle_letter', id, token),
    giveBack: (id, token, failure) =>
      failure
        ? yes('fail_letter', id, token, failure.at.getTime(), toFailureJson(failure), MAX_FAILURES)
        : yes('release_letter', id, token),
  };
}

const conditions = ({ since, until, ...query }: CheckedDeadLetterQuery): Row => {
  const { eventName = null, reason = null, tenant = null } = query;
  return [since, until, eventName, reason, tenant];
};

function letterOf([id, letter, failures, claimedUntil]: Row): ListedDeadLetter {
  const until = claimedUntil === null ? undefined : new Date(numberOf(claimedUntil));
  return fromRecord(textOf(id), textOf(letter), textOf(failures).split('\n'), until);
}
