import { VERSION } from './schema.ts';
import { literal, type Completion } from './transaction.ts';

/** How long a batch waits for a lock; milliseconds. */
const BATCH_LOCK_TIMEOUT_MS = 50;

/** The server's clock. It stays the same throughout a statement. */
const now = 'statement_timestamp()';
/** Some milliseconds, as an interval. */
export const ms = (milliseconds: string) => `${milliseconds}::float8 * interval '1 millisecond'`;
const later = (milliseconds: string) => `${now} + ${ms(milliseconds)}`;

/** What a statement fails with on newer tables. Postgres quotes it, since it is no number. */
const NEWER =
  'a newer release of @call-webhooks/postgres has migrated these tables: install it here, too';

/** A text, which is empty. On tables of a newer release it fails, and with it the whole statement. */
const onKnownTables = (schema: string) =>
  `(SELECT CASE WHEN version > ${String(VERSION)} THEN ('${NEWER}' || version)::int::text ELSE '' END FROM ${schema}.schema_version)`;

/** The same statements, which fail on tables of a newer release and then change nothing. */
export function guarded<Texts extends object>(schema: string, texts: Texts): Texts {
  const entries = Object.entries(texts).map(([name, text]: [string, unknown]) => [
    name,
    typeof text === 'string'
      ? text.replace(' AS answer', ` || ${onKnownTables(schema)} AS answer`)
      : text,
  ]);
  return Object.fromEntries(entries) as Texts;
}

/** Answers whether a statement that writes changed a row. */
export const whether = (change: string) => `WITH changed AS (${change} RETURNING 1)
SELECT (EXISTS (SELECT FROM changed))::text AS answer`;

/**
 * The statements of a store, one for each call. They use the server's clock.
 *
 * `admit` is safe under READ COMMITTED: `ON CONFLICT DO UPDATE … WHERE` decides on the newest version
 * of the row, under its lock. Webhook ids are locked before events, so there is no deadlock. The last
 * SELECT may see an older version than the one that refused the claim. So only `done` counts, which is
 * final, or at least safe with the dead letters; everything else is `in-progress`, and the service
 * delivers again.
 *
 * A group is a row that points to the event which ran last, and is busy while that event holds its
 * lease. So ending or extending a lease is the same for all events.
 */
export function statements(schema: string) {
  const ids = `${schema}.webhook_ids`;
  const events = `${schema}.events`;
  const groups = `${schema}.groups`;
  const cursors = `${schema}.cursors`;
  const held = `NOT event.done AND event.lease_until > ${now}`;
  const expired = (table: string, key: string) =>
    `DELETE FROM ${table} WHERE ${key} = ANY (ARRAY(
       SELECT ${key} FROM ${table} WHERE keep_until <= ${now}
       ORDER BY keep_until LIMIT $1::int FOR UPDATE SKIP LOCKED
     )) RETURNING 1`;

  // Only claims of the group write its row, and they lock it first. Each part below sees the snapshot
  // of the statement, except what FOR UPDATE returns: that is the newest version. An event that got
  // its lease after the snapshot is not in it, but then the group does not point where it pointed.
  const turn = `, last AS (
  SELECT key FROM ${groups} WHERE id = $7::text AND EXISTS (SELECT FROM seen) FOR UPDATE
), ended AS (
  SELECT key FROM ${events} WHERE key = (SELECT key FROM last) AND (done OR lease_until <= ${now})
  FOR UPDATE
), gone AS (
  SELECT key FROM last WHERE key = (SELECT key FROM ${groups} WHERE id = $7::text)
    AND NOT EXISTS (SELECT FROM ${events} WHERE key = (SELECT key FROM last))
), turn AS (
  INSERT INTO ${groups} AS known (id, key, keep_until)
  SELECT $7::text, $4::text, ${later('$6')} FROM seen
  WHERE NOT EXISTS (SELECT FROM last) OR $4::text = (SELECT key FROM last)
    OR EXISTS (SELECT FROM ended) OR EXISTS (SELECT FROM gone)
  ON CONFLICT (id) DO UPDATE SET key = excluded.key, keep_until = excluded.keep_until
  WHERE known.key = excluded.key OR EXISTS (SELECT FROM last)
  RETURNING 1
)`;
  const groupIsBusy = `
    WHEN NOT EXISTS (SELECT FROM turn) AND NOT EXISTS (
      SELECT FROM ${events} WHERE key = $4::text AND lease_until > ${now}
    ) THEN 'group-busy'`;
  const ifIdIsFree = `ON CONFLICT (id) DO UPDATE SET token = excluded.token, keep_until = excluded.keep_until
  WHERE known.token = excluded.token OR known.keep_until <= ${now}`;
  const ifEventIsFree = `ON CONFLICT (key) DO UPDATE SET
    token = excluded.token,
    attempt = CASE
      WHEN known.keep_until <= ${now} THEN 1
      WHEN known.token = excluded.token AND known.lease_until > ${now} THEN known.attempt
      ELSE known.attempt + 1 END,
    done = false,
    dead_lettered = false,
    lease_until = excluded.lease_until,
    keep_until = excluded.keep_until
  WHERE known.keep_until <= ${now}
    OR (NOT known.done AND (known.lease_until <= ${now} OR known.token = excluded.token))`;
  const admit = (inGroup: boolean) => `WITH seen AS (
  INSERT INTO ${ids} AS known (id, token, keep_until)
  VALUES ($1::text, $2::text, ${later('$3')})
  ${ifIdIsFree}
  RETURNING 1
)${inGroup ? turn : ''}, claimed AS (
  INSERT INTO ${events} AS known (key, token, attempt, lease_until, keep_until)
  SELECT $4::text, $2::text, 1, ${later('$5')}, ${later('$6')} FROM ${inGroup ? 'turn' : 'seen'} WHERE $4::text IS NOT NULL
  ${ifEventIsFree}
  RETURNING attempt
)
SELECT json_build_object('status', CASE
    WHEN NOT EXISTS (SELECT FROM seen) THEN 'replayed'
    WHEN $4::text IS NULL OR EXISTS (SELECT FROM claimed) THEN 'admitted'
    WHEN EXISTS (SELECT FROM ${events} WHERE key = $4::text AND dead_lettered) THEN 'dead-lettered'
    WHEN EXISTS (SELECT FROM ${events} WHERE key = $4::text AND done) THEN 'duplicate'${inGroup ? groupIsBusy : ''}
    ELSE 'in-progress' END,
  'attempt', coalesce((SELECT attempt FROM claimed), 1))::text AS answer`;

  // A batch locks its rows in one order, as all batches do: webhook ids, then events, each sorted. It
  // can still meet a transaction of a user, or a claim in a group. Then it does not wait for long, fails,
  // and its calls are made alone. It is given as JSON, since clients differ in how they pass lists.
  const patience = `SELECT set_config('lock_timeout', '${String(BATCH_LOCK_TIMEOUT_MS)}', true) AS set`;
  const admitBatch = `WITH patience AS MATERIALIZED (${patience}), input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::text::json)
    AS claim(id text, token text, "keepIdMs" float8, key text, "leaseMs" float8), patience
), claim(id, token, keep_id_ms, key, lease_ms, set) AS (SELECT * FROM input), seen AS (
  INSERT INTO ${ids} AS known (id, token, keep_until)
  SELECT id, token, ${later('keep_id_ms')} FROM claim ORDER BY id COLLATE "C"
  ${ifIdIsFree}
  RETURNING id
), claimed AS (
  INSERT INTO ${events} AS known (key, token, attempt, lease_until, keep_until)
  SELECT key, token, 1, ${later('lease_ms')}, ${later('$2')} FROM claim JOIN seen USING (id)
  WHERE key IS NOT NULL ORDER BY key COLLATE "C"
  ${ifEventIsFree}
  RETURNING key, attempt
)
SELECT json_object_agg(claim.id, json_build_object('status', CASE
    WHEN seen.id IS NULL THEN 'replayed'
    WHEN claim.key IS NULL OR claimed.key IS NOT NULL THEN 'admitted'
    WHEN event.dead_lettered THEN 'dead-lettered'
    WHEN event.done THEN 'duplicate'
    ELSE 'in-progress' END,
  'attempt', coalesce(claimed.attempt, 1)))::text AS answer
FROM claim LEFT JOIN seen USING (id) LEFT JOIN claimed ON claimed.key = claim.key
  LEFT JOIN ${events} AS event ON event.key = claim.key AND claimed.key IS NULL`;

  const end = (
    how: string,
  ) => `done = ${how} <> 'released', dead_lettered = ${how} = 'dead-lettered',
  lease_until = CASE WHEN ${how} = 'released' THEN '-infinity' ELSE event.lease_until END`;
  const endBatch = `WITH patience AS MATERIALIZED (${patience}), call AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::text::json) AS call(key text, token text, how text), patience
), locked AS MATERIALIZED (
  SELECT event.key FROM ${events} AS event JOIN call USING (key, token)
  ORDER BY event.key FOR NO KEY UPDATE OF event
), ended AS (
  UPDATE ${events} AS event SET ${end('call.how')}
  FROM call JOIN locked USING (key)
  WHERE event.key = call.key AND event.token = call.token AND ${held}
  RETURNING event.key
)
SELECT coalesce(json_object_agg(key, true), '{}')::text AS answer FROM ended`;
  const ofToken = `event.key = $1 AND event.token = $2 AND ${held}`;

  return guarded(schema, {
    /** $1 webhook id, $2 token, $3 ms to keep the id, $4 key or null, $5 ms of lease, $6 ms to keep the event. */
    admit: admit(false),
    /** Also $7 group. The key is not null. */
    admitInGroup: admit(true),
    /** $1 claims as JSON, in which each id and each key is once, $2 ms to keep the events. Answers by id. */
    admitBatch,
    /** $1 key, $2 token, $3 `done`, `dead-lettered` or `released`. Answers whether the lease was held. */
    end: whether(`UPDATE ${events} AS event SET ${end('$3::text')} WHERE ${ofToken}`),
    /** $1 ends as JSON, each key once. Answers with the keys of the leases that were held. */
    endBatch,
    /** $1 key, $2 token, $3 ms of lease. Answers whether the lease was held. */
    extend: whether(`UPDATE ${events} AS event SET lease_until = ${later('$3')} WHERE ${ofToken}`),
    /** $1 a list of keys, in JSON. Answers with the states of those that are known. */
    peek: `SELECT coalesce(json_object_agg(key, CASE
  WHEN dead_lettered THEN 'dead-lettered' WHEN done THEN 'handled'
  WHEN lease_until > ${now} THEN 'running' ELSE 'failed' END), '{}')::text AS answer
FROM ${events} WHERE key IN (SELECT json_array_elements_text($1::text::json)) AND keep_until > ${now}`,
    /** $1 key. Answers whether the event was dead-lettered. */
    reopen: whether(
      `DELETE FROM ${events} WHERE key = $1 AND dead_lettered AND keep_until > ${now}`,
    ),
    /** $1 key. Answers whether the event was known, and is not running. */
    forget: whether(`DELETE FROM ${events} WHERE key = $1 AND (done OR lease_until <= ${now})`),
    /**
     * For a transaction of the user. A token that has completed the event may do it again.
     * @param id of the tables of the store, if it is known
     */
    completion: (key: string, token: string, id: string | undefined): Completion => ({
      update: `UPDATE ${events} SET done = true`,
      where: `key = ${literal(key)} AND token = ${literal(token)} AND NOT dead_lettered AND (done OR lease_until > ${now}) AND ${onKnownTables(schema)} = ''`,
      isHere:
        id === undefined
          ? 'true'
          : `EXISTS (SELECT FROM ${schema}.schema_version WHERE id = ${literal(id)})`,
    }),
    /** $1 name, $2 cursor. */
    loadCursor: `SELECT json_build_object('cursor', (SELECT cursor FROM ${cursors} WHERE name = $1))::text AS answer`,
    saveCursor: whether(`INSERT INTO ${cursors} (name, cursor) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`),
    removeCursor: whether(`DELETE FROM ${cursors} WHERE name = $1`),
    /** $1 how many rows of each table at most. It never waits for a lock. Answers with their number. */
    sweep: `WITH old_ids AS (${expired(ids, 'id')}), old_events AS (${expired(events, 'key')}),
old_groups AS (${expired(groups, 'id')})
SELECT ((SELECT count(*) FROM old_ids) + (SELECT count(*) FROM old_events)
  + (SELECT count(*) FROM old_groups))::text AS answer`,
  });
}

/**
 * The statements of dead letters, one for each call. Claims run on the server's clock. A claim that is
 * refused finds that under the lock of the row.
 */
export function deadLetterStatements(schema: string) {
  const letters = `${schema}.dead_letters`;
  const time = (milliseconds: string) => `timestamptz 'epoch' + ${ms(milliseconds)}`;
  const held = `id = $1 AND token = $2 AND claimed_until > ${now}`;
  /** Answers with a list, in order. @param body a column, or an empty text: lists read no bodies */
  const listOf = (found: string, body = "''") => `SELECT coalesce(json_agg(json_build_object(
  'id', id, 'letter', letter, 'body', ${body}, 'failures', failures, 'claimedUntil',
  CASE WHEN token IS NOT NULL AND claimed_until > ${now} THEN extract(epoch FROM claimed_until)::float8 * 1000 END
) ORDER BY failed_at, id), '[]')::text AS answer FROM ${found}`;
  /** $1 the first time (ms), $2 the time to end before (ms), $3 event name, $4 reason and $5 tenant, or null. */
  const matches = `failed_at >= ${time('$1')} AND failed_at < ${time('$2')}
  AND ($3::text IS NULL OR event_name = $3::text) AND ($4::text IS NULL OR reason = $4::text)
  AND ($5::text IS NULL OR tenant = $5::text)`;
  /** The first one stays. */
  const withFailure = (failure: string, max: string) =>
    `known.failures[1:1] || (known.failures[2:] || ${failure})[greatest(1, cardinality(known.failures) + 2 - ${max}::int):]`;

  return guarded(schema, {
    /**
     * $1 id, $2 time of the failure (ms), $3 reason, $4 event name, $5 tenant, $6 letter, $7 failure, $8 how
     * many failures are kept, $9 body.
     */
    put: whether(`INSERT INTO ${letters} AS known (id, failed_at, reason, event_name, tenant, letter, failures, body)
VALUES ($1::text, ${time('$2')}, $3::text, $4::text, $5::text, $6::text, ARRAY[$7::text], $9::text)
ON CONFLICT (id) DO UPDATE SET
  failed_at = excluded.failed_at,
  reason = excluded.reason,
  event_name = excluded.event_name,
  tenant = excluded.tenant,
  letter = excluded.letter,
  body = excluded.body,
  failures = ${withFailure('excluded.failures', '$8')},
  token = NULL,
  claimed_until = NULL`),
    /** $6 time (ms) and $7 id of the letter to begin after, $8 how many. */
    list: listOf(`(SELECT * FROM ${letters} WHERE ${matches}
  AND (failed_at, id) > (${time('$6')}, $7::text) ORDER BY failed_at, id LIMIT $8::int) AS found`),
    count: `SELECT count(*)::text AS answer FROM ${letters} WHERE ${matches}`,
    /** $1 id. */
    get: listOf(`${letters} WHERE id = $1`, 'body'),
    remove: whether(`DELETE FROM ${letters} WHERE id = $1`),
    /**
     * $1 time that is not expired any more (ms), $2 how many at most, $3 token of the process, $4 ms of its turn,
     * which is kept among the cursors. Answers null while it is the turn of another process.
     */
    removeExpired: `WITH turn AS (
  INSERT INTO ${schema}.cursors AS known (name, cursor)
  VALUES ('dead letters removal', concat($3::text, ' ', extract(epoch FROM ${later('$4')})))
  ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor
  WHERE split_part(known.cursor, ' ', 1) = $3::text
    OR split_part(known.cursor, ' ', 2)::float8 <= extract(epoch FROM ${now})
  RETURNING 1
), removed AS (
  DELETE FROM ${letters} WHERE id = ANY (ARRAY(
    SELECT id FROM ${letters} WHERE failed_at < ${time('$1')} AND (token IS NULL OR claimed_until <= ${now})
      AND EXISTS (SELECT FROM turn)
    ORDER BY failed_at, id LIMIT $2::int FOR UPDATE SKIP LOCKED
  )) RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT FROM turn) THEN (SELECT count(*) FROM removed)::text ELSE 'null' END AS answer`,
    /** $1 id, $2 token, $3 ms of the claim. */
    claim: `WITH claimed AS (
  UPDATE ${letters} SET token = $2::text, claimed_until = ${later('$3')}
  WHERE id = $1 AND (token IS NULL OR token = $2::text OR claimed_until <= ${now}) RETURNING *
) ${listOf('claimed', 'body')}`,
    extend: whether(`UPDATE ${letters} SET claimed_until = ${later('$3')} WHERE ${held}`),
    /** $1 id, $2 token. */
    settle: whether(`DELETE FROM ${letters} WHERE ${held}`),
    release: whether(`UPDATE ${letters} SET token = NULL, claimed_until = NULL WHERE ${held}`),
    /** $3 time of the failure (ms), $4 failure, $5 how many are kept. */
    fail: whether(`UPDATE ${letters} AS known SET token = NULL, claimed_until = NULL, failed_at = ${time('$3')},
  failures = ${withFailure('ARRAY[$4::text]', '$5')} WHERE ${held}`),
  });
}
