import { WebhookError } from '@call-webhooks/core';

export const DEFAULT_SCHEMA = 'call_webhooks';
// It goes into the statements as it is; 63 bytes are what Postgres keeps of a name.
const NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** @throws WebhookError `invalid-options` for a name that would need quotes */
export function checkedSchema(schema: string = DEFAULT_SCHEMA): string {
  if (NAME.test(schema)) return schema;
  throw new WebhookError(
    'invalid-options',
    `These options are wrong. schema: expected lower-case letters, digits and _, at most 63 of them.`,
  );
}

/**
 * The statement that `migrate()` runs, for those who keep their migrations in files: it makes the
 * schema and its two tables where they are missing, and changes nothing otherwise.
 *
 * One statement, so that it is atomic with every client; the lock lets several machines run it at
 * once. What exists is not asked for again, so a role without CREATE may run it when all is there.
 * @throws WebhookError `invalid-options` for a schema name that would need quotes
 */
export function migrationSql({ schema }: { schema?: string | undefined } = {}): string {
  const name = checkedSchema(schema);
  return `DO $migration$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('call-webhooks migrate'), hashtext('${name}'));
  IF to_regnamespace('${name}') IS NULL THEN
    CREATE SCHEMA ${name};
  END IF;
  IF to_regclass('${name}.webhook_ids') IS NULL THEN
    CREATE TABLE ${name}.webhook_ids (
      id text COLLATE "C" PRIMARY KEY,
      token text NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX webhook_ids_keep_until ON ${name}.webhook_ids (keep_until);
  END IF;
  IF to_regclass('${name}.events') IS NULL THEN
    -- Room on each page, so that completing an event touches no index.
    CREATE TABLE ${name}.events (
      key text COLLATE "C" PRIMARY KEY,
      token text NOT NULL,
      attempt integer NOT NULL,
      done boolean NOT NULL DEFAULT false,
      lease_until timestamptz NOT NULL,
      keep_until timestamptz NOT NULL
    ) WITH (fillfactor = 80);
    CREATE INDEX events_keep_until ON ${name}.events (keep_until);
  END IF;
END
$migration$`;
}
