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
import { checkClient, oddAnswer, type PostgresClient } from './client.ts';
import { CheckedClient } from './checked-client.ts';
import { schemaOption, type Migration } from './schema.ts';
import { deadLetterStatements } from './statements.ts';

/** The options of `postgresDeadLetters`. */
export interface PostgresDeadLettersOptions {
  /** The schema of the table; `call_webhooks` by default. It may be the schema of `postgresStore`. */
  schema?: string | undefined;
  /**
   * How long a letter is kept after its last failure, in milliseconds: 3,600,000 (1 hour) to 10 years.
   * By default, letters are kept until they are redriven or removed. The receiver or the worker that
   * has these dead letters removes the expired ones.
   */
  keepFor?: number | undefined;
}

/** Dead letters in Postgres. */
export interface PostgresDeadLetters extends DeadLetters {
  /**
   * Creates the schema and the tables if they are missing. It does the same as `migrate()` of
   * `postgresStore`, so one of the two is enough.
   */
  migrate(): Promise<Migration>;
}

/**
 * Creates a dead-letter store in a table of Postgres 12 or newer. Each call is one statement. The
 * methods reject with the client's error.
 * @param client as `postgresStore` takes it; it may be the same
 * @throws WebhookError `invalid-options`
 * @example
 * const store = postgresStore(pool);
 * await store.migrate();
 * const hook = callWebhooks({ secret, store, deadLetter: postgresDeadLetters(pool), on });
 */
export function postgresDeadLetters(
  client: PostgresClient,
  options: PostgresDeadLettersOptions = {},
): PostgresDeadLetters {
  const rules = { schema: schemaOption(), keepFor: option.keepFor() };
  const { schema, keepFor } = checkOptions('postgresDeadLetters', rules, options);
  checkClient('postgresDeadLetters', client);
  const sql = deadLetterStatements(schema);
  const tables = new CheckedClient(client, schema);
  /** An id that Postgres can't take as it is belongs to no letter. */
  const askOf = async (text: string, id: string, ...values: unknown[]) =>
    tables.runIf(text, await storableKey(id), ...values);
  const rowsOf = async (text: string, ...values: unknown[]) => {
    const answer = await tables.run(text, ...values);
    if (!Array.isArray(answer)) throw oddAnswer();
    return answer as unknown[];
  };
  const wholeLetter = async (text: string, id: string, ...values: unknown[]) => {
    const [row] = await rowsOf(text, await storableKey(id), ...values);
    return row === undefined ? undefined : withBody(letterOf(row), bodyOf(row));
  };

  return {
    keepFor,
    async removeExpired({ before, limit, token, leaseMs }) {
      const values = [before.getTime(), limit, token, leaseMs];
      const removed = await tables.run(sql.removeExpired, ...values);
      if (removed === null) return undefined;
      if (!Number.isInteger(removed)) throw oddAnswer();
      return Number(removed);
    },
    migrate: () => tables.migrate(),
    ping: () => tables.probe([PROBED]),
    async put(letter) {
      const { id, failedAt, reason, eventName, tenant, ...texts } = await toRecord(letter);
      const found = [reason, eventName, tenant];
      const kept = [texts.letter, texts.failure, MAX_FAILURES, texts.body];
      if (!(await tables.runIf(sql.put, id, failedAt, ...found, ...kept)))
        throw new Error('Postgres did not store the dead letter.');
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      const { after = { failedAt: -1, id: '' }, limit } = checked;
      const values = [...conditions(checked), after.failedAt, after.id, limit + 1];
      return deadLetterPage((await rowsOf(sql.list, ...values)).map(letterOf), limit);
    },
    async count(filter) {
      const count = await tables.run(sql.count, ...conditions(checkDeadLetterQuery(filter)));
      if (!Number.isInteger(count)) throw oddAnswer();
      return Number(count);
    },
    get: (id) => wholeLetter(sql.get, id),
    remove: (id) => askOf(sql.remove, id),
    claim: (id, { token, leaseMs }) => wholeLetter(sql.claim, id, token, leaseMs),
    extend: (id, token, leaseMs) => askOf(sql.extend, id, token, leaseMs),
    settle: (id, token) => askOf(sql.settle, id, token),
    giveBack: (id, token, failure) =>
      failure
        ? askOf(sql.fail, id, token, failure.at.getTime(), toFailureJson(failure), MAX_FAILURES)
        : askOf(sql.release, id, token),
  };
}

/** What a health check writes. */
const PROBED = {
  table: 'dead_letters',
  key: 'id',
  others: {
    failed_at: 'now()',
    ...{ reason: "''", event_name: "''", tenant: "''", letter: "''", body: "''" },
    failures: "'{}'",
  },
};

const conditions = ({ since, until, eventName, reason, tenant }: CheckedDeadLetterQuery) => [
  since,
  until,
  eventName ?? null,
  reason ?? null,
  tenant ?? null,
];

function letterOf(row: unknown): ListedDeadLetter {
  const { id, letter, failures, claimedUntil } = Object(row) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof letter !== 'string' || !Array.isArray(failures))
    throw oddAnswer();
  const until = typeof claimedUntil === 'number' ? new Date(claimedUntil) : undefined;
  return fromRecord(id, letter, failures as string[], until);
}

function bodyOf(row: unknown): string {
  const { body } = Object(row) as { body?: unknown };
  if (typeof body !== 'string') throw oddAnswer();
  return body;
}
