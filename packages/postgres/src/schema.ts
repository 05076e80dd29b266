import { checkOptions, option } from '@call-webhooks/core/internal';

/** It goes into the statements as it is. Postgres keeps 63 bytes of a name. */
export const schemaOption = () =>
  option.default(
    option.text(/^[a-z_][a-z0-9_]{0,62}$/, 'expected up to 63 lower-case letters, digits and _'),
    'call_webhooks',
  );

/**
 * The statement that `migrate()` runs, for migrations that you keep in files. It creates the schema
 * and its tables if they are missing, and changes nothing otherwise.
 *
 * It is one statement, so it is atomic with every client, and it takes a lock, so several machines may
 * run it at once. A role without CREATE can run it when everything exists.
 * @param options.schema `call_webhooks` by default
 * @throws WebhookError `invalid-options` for a name that would need quotes
 * @example
 * writeFileSync('migrations/001-call-webhooks.sql', migrationSql());
 */
export function migrationSql(options: { schema?: string | undefined } = {}): string {
  const { schema: name } = checkOptions('migrationSql', { schema: schemaOption() }, options);
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
      dead_lettered boolean NOT NULL DEFAULT false,
      lease_until timestamptz NOT NULL,
      keep_until timestamptz NOT NULL
    ) WITH (fillfactor = 80);
    CREATE INDEX events_keep_until ON ${name}.events (keep_until);
  END IF;
  IF to_regclass('${name}.groups') IS NULL THEN
    CREATE TABLE ${name}.groups (
      id text COLLATE "C" PRIMARY KEY,
      key text COLLATE "C" NOT NULL,
      keep_until timestamptz NOT NULL
    );
    CREATE INDEX groups_keep_until ON ${name}.groups (keep_until);
  END IF;
  IF to_regclass('${name}.cursors') IS NULL THEN
    CREATE TABLE ${name}.cursors (
      name text COLLATE "C" PRIMARY KEY,
      cursor text NOT NULL
    );
  END IF;
  IF to_regclass('${name}.dead_letters') IS NULL THEN
    CREATE TABLE ${name}.dead_letters (
      id text COLLATE "C" PRIMARY KEY,
      failed_at timestamptz NOT NULL,
      reason text NOT NULL,
      event_name text NOT NULL,
      tenant text NOT NULL,
      letter text NOT NULL,
      failures text[] NOT NULL,
      token text,
      claimed_until timestamptz
    );
    CREATE INDEX dead_letters_failed_at ON ${name}.dead_letters (failed_at, id);
  END IF;
END
$migration$`;
}
