import { option } from '@call-webhooks/core/stores';
import { COUNTER, KEY, TOKEN, type Procedure } from './procedure.ts';
import { deadLetterProcedures } from './dead-letter-procedures.ts';
import { logProcedures } from './log-procedures.ts';
import { storeProcedures } from './store-procedures.ts';

/** It goes into the statements as it is. MySQL keeps 64 characters of a name. */
export const prefixOption = () =>
  option.default(
    option.text(/^[a-z_][a-z0-9_]{0,39}$/, 'expected up to 40 lower-case letters, digits and _'),
    'call_webhooks_',
  );

/** What a migration did. */
export interface Migration {
  /** The version of the tables before; 0 if there were none. */
  readonly from: number;
  /** Their version now. */
  readonly to: number;
}

/** What the store, and so on, call. */
export const procedures = (prefix: string): Procedure[] => [
  ...storeProcedures(prefix),
  ...deadLetterProcedures(prefix),
  ...logProcedures(prefix),
];

/** The names of the tables, and the statements that create them. */
export function tables(prefix: string): { name: string; creation: string }[] {
  const table = (ending: string, columns: string) => {
    const name = `${prefix}${ending}`;
    const creation = `CREATE TABLE IF NOT EXISTS ${name} (${columns}) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARSET = utf8mb4`;
    return { name, creation };
  };
  return [
    table(
      'webhook_ids',
      `id ${KEY} NOT NULL PRIMARY KEY, token ${TOKEN} NOT NULL, keep_until BIGINT NOT NULL,
  KEY keep_until (keep_until)`,
    ),
    table(
      'events',
      `event_key ${KEY} NOT NULL PRIMARY KEY, token ${TOKEN} NOT NULL, attempt INT NOT NULL,
  state ENUM('open', 'done', 'dead-lettered') NOT NULL, lease_until BIGINT NOT NULL, keep_until BIGINT NOT NULL,
  KEY keep_until (keep_until)`,
    ),
    // The event of a group that ran last. The group is busy while it holds its lease.
    table(
      'event_groups',
      `id ${KEY} NOT NULL PRIMARY KEY, event_key ${KEY} NOT NULL, keep_until BIGINT NOT NULL,
  KEY keep_until (keep_until)`,
    ),
    table('cursors', `name ${KEY} NOT NULL PRIMARY KEY, position LONGBLOB NOT NULL`),
    table(
      'dead_letters',
      `id ${KEY} NOT NULL PRIMARY KEY, failed_at BIGINT NOT NULL, reason VARBINARY(64) NOT NULL,
  event_name ${KEY} NOT NULL, tenant ${KEY} NOT NULL, letter LONGBLOB NOT NULL, failures LONGBLOB NOT NULL,
  body LONGBLOB NOT NULL, token ${TOKEN}, claimed_until BIGINT, KEY failed_at (failed_at, id)`,
    ),
    table(
      'log_batches',
      `id ${KEY} NOT NULL PRIMARY KEY, taken_at BIGINT NOT NULL, KEY taken_at (taken_at)`,
    ),
    // The rows of one kind of one batch, as JSON, and how many rows of that kind came earlier.
    table(
      'log_rows',
      `n BIGINT NOT NULL, failures TINYINT NOT NULL, earlier BIGINT NOT NULL, amount INT NOT NULL,
  taken_at BIGINT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL, ahead BIGINT NOT NULL,
  outcomes LONGBLOB NOT NULL, PRIMARY KEY (n, failures), KEY earlier (failures, earlier), KEY taken_at (taken_at)`,
    ),
    // One row: the number of the last batch, and how many rows there have been.
    table(
      'log_position',
      `only_row TINYINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, others BIGINT NOT NULL, failures BIGINT NOT NULL`,
    ),
    table(
      'log_counts',
      `series VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, period_number BIGINT NOT NULL,
  name ${COUNTER} NOT NULL, amount BIGINT NOT NULL, PRIMARY KEY (series, period_number, name)`,
    ),
    table(
      'log_marks',
      `name ${COUNTER} NOT NULL PRIMARY KEY, marked_at BIGINT NOT NULL, KEY marked_at (marked_at)`,
    ),
    table(
      'log_processes',
      `id ${KEY} NOT NULL PRIMARY KEY, process LONGBLOB NOT NULL, seen_at BIGINT NOT NULL, KEY seen_at (seen_at)`,
    ),
    // One row, whose random id tells these tables from those of the same name in another database.
    table(
      'schema_version',
      `only_row TINYINT NOT NULL PRIMARY KEY, version INT NOT NULL, id VARCHAR(36) NOT NULL`,
    ),
  ];
}
