import { literal, type Completion } from './transaction.ts';

/** How long a batch waits for a lock; milliseconds. */
const BATCH_LOCK_TIMEOUT_MS = 50;

/**
 * The statements of a store, one for each call. They use the server's clock: `statement_timestamp()`
 * stays the same throughout a statement.
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
  const now = 'statement_timestamp()';
  const ms = (milliseconds: string) =>
    `${now} + ${milliseconds}::float8 * interval '1 millisecond'`;
  const held = `key = $1 AND token = $2 AND NOT done AND lease_until > ${now}`;
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
  SELECT $7::text, $4::text, ${ms('$6')} FROM seen
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
  VALUES ($1::text, $2::text, ${ms('$3')})
  ${ifIdIsFree}
  RETURNING 1
)${inGroup ? turn : ''}, claimed AS (
  INSERT INTO ${events} AS known (key, token, attempt, lease_until, keep_until)
  SELECT $4::text, $2::text, 1, ${ms('$5')}, ${ms('$6')} FROM ${inGroup ? 'turn' : 'seen'} WHERE $4::text IS NOT NULL
  ${ifEventIsFree}
  RETURNING attempt
)
SELECT CASE
    WHEN NOT EXISTS (SELECT FROM seen) THEN 'replayed'
    WHEN $4::text IS NULL OR EXISTS (SELECT FROM claimed) THEN 'admitted'
    WHEN EXISTS (SELECT FROM ${events} WHERE key = $4::text AND dead_lettered) THEN 'dead-lettered'
    WHEN EXISTS (SELECT FROM ${events} WHERE key = $4::text AND done) THEN 'duplicate'${inGroup ? groupIsBusy : ''}
    ELSE 'in-progress' END AS status,
  coalesce((SELECT attempt FROM claimed), 1) AS attempt`;

  // A batch locks its rows in one order, as all batches do: webhook ids, then events, each sorted. It
  // can still meet a transaction of a user, or a claim in a group. Then it does not wait for long, fails,
  // and its calls are made alone. It is given as JSON, since clients differ in how they pass lists.
  const patience = `SELECT set_config('lock_timeout', '${String(BATCH_LOCK_TIMEOUT_MS)}', true) AS set`;
  const admitBatch = `WITH patience AS MATERIALIZED (${patience}), input AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::text::json)
    AS claim(id text, token text, "keepIdMs" float8, key text, "leaseMs" float8), patience
), claim(id, token, keep_id_ms, key, lease_ms, set) AS (SELECT * FROM input), seen AS (
  INSERT INTO ${ids} AS known (id, token, keep_until)
  SELECT id, token, ${ms('keep_id_ms')} FROM claim ORDER BY id COLLATE "C"
  ${ifIdIsFree}
  RETURNING id
), claimed AS (
  INSERT INTO ${events} AS known (key, token, attempt, lease_until, keep_until)
  SELECT key, token, 1, ${ms('lease_ms')}, ${ms('$2')} FROM claim JOIN seen USING (id)
  WHERE key IS NOT NULL ORDER BY key COLLATE "C"
  ${ifEventIsFree}
  RETURNING key, attempt
)
SELECT claim.id, CASE
    WHEN seen.id IS NULL THEN 'replayed'
    WHEN claim.key IS NULL OR claimed.key IS NOT NULL THEN 'admitted'
    WHEN event.dead_lettered THEN 'dead-lettered'
    WHEN event.done THEN 'duplicate'
    ELSE 'in-progress' END AS status,
  coalesce(claimed.attempt, 1) AS attempt
FROM claim LEFT JOIN seen USING (id) LEFT JOIN claimed ON claimed.key = claim.key
  LEFT JOIN ${events} AS event ON event.key = claim.key AND claimed.key IS NULL`;
  const completeBatch = `WITH patience AS MATERIALIZED (${patience}), call AS MATERIALIZED (
  SELECT * FROM json_to_recordset($1::text::json)
    AS call(key text, token text, "deadLettered" boolean), patience
), locked AS MATERIALIZED (
  SELECT event.key FROM ${events} AS event JOIN call USING (key, token)
  ORDER BY event.key FOR NO KEY UPDATE OF event
)
UPDATE ${events} AS event SET done = true, dead_lettered = call."deadLettered"
FROM call JOIN locked USING (key)
WHERE event.key = call.key AND event.token = call.token AND NOT event.done AND event.lease_until > ${now}
RETURNING event.key AS held`;

  return {
    /** $1 webhook id, $2 token, $3 ms to keep the id, $4 key or null, $5 ms of lease, $6 ms to keep the event. */
    admit: admit(false),
    /** Also $7 group. The key is not null. */
    admitInGroup: admit(true),
    /** $1 claims as JSON, in which each id and each key is once, $2 ms to keep the events. A row for each id. */
    admitBatch,
    /** $1 commits as JSON, each key once. A row for each lease that is held. */
    completeBatch,
    /** $1 key, $2 token: all four give a row when the lease is held. */
    complete: `UPDATE ${events} SET done = true WHERE ${held} RETURNING 1 AS held`,
    deadLetter: `UPDATE ${events} SET done = true, dead_lettered = true WHERE ${held} RETURNING 1 AS held`,
    /** For a transaction of the user. A token that has completed the event may do it again. */
    completion: (key: string, token: string): Completion => ({
      update: `UPDATE ${events} SET done = true`,
      where: `key = ${literal(key)} AND token = ${literal(token)} AND NOT dead_lettered AND (done OR lease_until > ${now})`,
    }),
    release: `UPDATE ${events} SET lease_until = '-infinity' WHERE ${held} RETURNING 1 AS held`,
    /** $3 ms of lease. */
    extend: `UPDATE ${events} SET lease_until = ${ms('$3')} WHERE ${held} RETURNING 1 AS held`,
    /** $1 key: gives a row when the event was dead-lettered. */
    reopen: `DELETE FROM ${events} WHERE key = $1 AND dead_lettered AND keep_until > ${now} RETURNING 1 AS held`,
    /** $1 name, $2 cursor. */
    loadCursor: `SELECT cursor FROM ${cursors} WHERE name = $1`,
    saveCursor: `INSERT INTO ${cursors} (name, cursor) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`,
    removeCursor: `DELETE FROM ${cursors} WHERE name = $1`,
    /** $1 how many rows of each table at most. It never waits for a lock. */
    sweep: `WITH old_ids AS (${expired(ids, 'id')}), old_events AS (${expired(events, 'key')}),
old_groups AS (${expired(groups, 'id')})
SELECT ((SELECT count(*) FROM old_ids) + (SELECT count(*) FROM old_events)
  + (SELECT count(*) FROM old_groups))::int AS removed`,
  };
}
