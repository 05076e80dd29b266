/**
 * The statements of dead letters, one for each call. Claims run on the server's clock. A claim that is
 * refused finds that under the lock of the row.
 */
export function deadLetterStatements(schema: string) {
  const letters = `${schema}.dead_letters`;
  const now = 'statement_timestamp()';
  const ms = (milliseconds: string) => `${milliseconds}::float8 * interval '1 millisecond'`;
  const time = (milliseconds: string) => `timestamptz 'epoch' + ${ms(milliseconds)}`;
  const held = `id = $1 AND token = $2 AND claimed_until > ${now}`;
  const isClaimed = `token IS NOT NULL AND claimed_until > ${now}`;
  const columns = `id, letter, to_json(failures)::text AS failures,
  CASE WHEN ${isClaimed} THEN extract(epoch FROM claimed_until)::float8 * 1000 END AS claimed_until`;
  /** $1 the first time (ms), $2 the time to end before (ms), $3 event name, $4 reason and $5 tenant, or null. */
  const matches = `failed_at >= ${time('$1')} AND failed_at < ${time('$2')}
  AND ($3::text IS NULL OR event_name = $3::text) AND ($4::text IS NULL OR reason = $4::text)
  AND ($5::text IS NULL OR tenant = $5::text)`;
  const withFailure = (failure: string, max: string) =>
    `(known.failures || ${failure})[greatest(1, cardinality(known.failures) + 2 - ${max}::int):]`;

  return {
    /**
     * $1 id, $2 time of the failure (ms), $3 reason, $4 event name, $5 tenant, $6 letter, $7 failure, $8 how
     * many failures are kept.
     */
    put: `INSERT INTO ${letters} AS known (id, failed_at, reason, event_name, tenant, letter, failures)
VALUES ($1::text, ${time('$2')}, $3::text, $4::text, $5::text, $6::text, ARRAY[$7::text])
ON CONFLICT (id) DO UPDATE SET
  failed_at = excluded.failed_at,
  reason = excluded.reason,
  event_name = excluded.event_name,
  tenant = excluded.tenant,
  letter = excluded.letter,
  failures = ${withFailure('excluded.failures', '$8')},
  token = NULL,
  claimed_until = NULL
RETURNING 1 AS changed`,
    /** $6 time (ms) and $7 id of the letter to begin after, $8 how many. */
    list: `SELECT ${columns} FROM ${letters} WHERE ${matches}
  AND (failed_at, id) > (${time('$6')}, $7::text) ORDER BY failed_at, id LIMIT $8::int`,
    count: `SELECT count(*)::int AS count FROM ${letters} WHERE ${matches}`,
    /** $1 id. */
    get: `SELECT ${columns} FROM ${letters} WHERE id = $1`,
    remove: `DELETE FROM ${letters} WHERE id = $1 RETURNING 1 AS changed`,
    /** $1 id, $2 token, $3 ms of the claim. */
    claim: `UPDATE ${letters} SET token = $2::text, claimed_until = ${now} + ${ms('$3')}
WHERE id = $1 AND (token IS NULL OR token = $2::text OR claimed_until <= ${now}) RETURNING ${columns}`,
    extend: `UPDATE ${letters} SET claimed_until = ${now} + ${ms('$3')} WHERE ${held} RETURNING 1 AS changed`,
    /** $1 id, $2 token: they give a row when the claim is held. */
    settle: `DELETE FROM ${letters} WHERE ${held} RETURNING 1 AS changed`,
    release: `UPDATE ${letters} SET token = NULL, claimed_until = NULL WHERE ${held} RETURNING 1 AS changed`,
    /** $3 time of the failure (ms), $4 failure, $5 how many are kept. */
    fail: `UPDATE ${letters} AS known SET token = NULL, claimed_until = NULL, failed_at = ${time('$3')},
  failures = ${withFailure('ARRAY[$4::text]', '$5')} WHERE ${held} RETURNING 1 AS changed`,
  };
}
