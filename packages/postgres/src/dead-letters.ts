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
import { checkClient, rowsOf, type PostgresClient } from './client.ts';
import { deadLetterStatements } from './dead-letter-statements.ts';
import { migrationSql, schemaOption } from './schema.ts';

/** Options of `postgresDeadLetters`. */
export interface PostgresDeadLettersOptions {
  /** The schema of the table; `call_webhooks` by default. It may be the one of `postgresStore`. */
  schema?: string | undefined;
}

/** Dead letters in Postgres. */
export interface PostgresDeadLetters extends DeadLetters {
  /** The same as `migrate()` of `postgresStore`: one of the two is enough. */
  migrate(): Promise<void>;
}

interface Row {
  id: string;
  letter: string;
  /** A JSON list of texts. */
  failures: string;
  /** Milliseconds since the epoch. */
  claimed_until: number | string | null;
}

const COLUMNS = ['id', 'letter', 'failures', 'claimed_until'] as const satisfies (keyof Row)[];

/**
 * Keeps dead letters in a table of Postgres 12 or newer. Each call is one statement. Its methods
 * reject with the client's error.
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
  const { schema } = checkOptions('postgresDeadLetters', { schema: schemaOption() }, options);
  checkClient('postgresDeadLetters', client);
  const sql = deadLetterStatements(schema);
  const changes = async (text: string, ...values: unknown[]) =>
    (await rowsOf<{ changed: 1 }>(client, text, values, ['changed'])).length > 0;
  const lettersOf = async (text: string, ...values: unknown[]) =>
    (await rowsOf<Row>(client, text, values, [...COLUMNS])).map(letterOf);

  return {
    async migrate() {
      await client.query(migrationSql({ schema }));
    },
    async put(letter) {
      const record = await toRecord(letter);
      const { id, failedAt, reason, eventName, tenant, failure } = record;
      const texts = [reason, eventName, tenant, record.letter, failure];
      if (!(await changes(sql.put, id, failedAt, ...texts, MAX_FAILURES)))
        throw new Error('Postgres kept no dead letter.');
    },
    async list(query) {
      const checked = checkDeadLetterQuery(query);
      const { after = { failedAt: -1, id: '' }, limit } = checked;
      const values = [...conditions(checked), after.failedAt, after.id, limit + 1];
      return deadLetterPage(await lettersOf(sql.list, ...values), limit);
    },
    async count(filter) {
      const values = conditions(checkDeadLetterQuery(filter));
      const [row] = await rowsOf<{ count: number }>(client, sql.count, values, ['count']);
      return Number(row?.count);
    },
    get: async (id) => (await lettersOf(sql.get, id))[0],
    remove: (id) => changes(sql.remove, id),
    claim: async (id, { token, leaseMs }) => (await lettersOf(sql.claim, id, token, leaseMs))[0],
    extend: (id, token, leaseMs) => changes(sql.extend, id, token, leaseMs),
    settle: (id, token) => changes(sql.settle, id, token),
    giveBack: (id, token, failure) =>
      failure
        ? changes(sql.fail, id, token, failure.at.getTime(), toFailureJson(failure), MAX_FAILURES)
        : changes(sql.release, id, token),
  };
}

const conditions = ({ since, until, eventName, reason, tenant }: CheckedDeadLetterQuery) => [
  since,
  until,
  eventName ?? null,
  reason ?? null,
  tenant ?? null,
];

const letterOf = ({ id, letter, failures, claimed_until: until }: Row): StoredDeadLetter =>
  fromRecord(
    id,
    letter,
    JSON.parse(failures) as string[],
    until === null ? undefined : new Date(Number(until)),
  );
