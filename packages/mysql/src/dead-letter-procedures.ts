import { CLOCK, deletion, KEY, TOKEN, type Procedure } from './procedure.ts';

/** Whose turn it is to remove what has expired, and until when: a row of the cursors. */
const TURN = 'dead letters removal';

/** The calls of dead letters. Failures are lines of JSON. */
export function deadLetterProcedures(prefix: string): Procedure[] {
  const letters = `${prefix}dead_letters`;
  const cursors = `${prefix}cursors`;
  const filter = `p_since BIGINT, p_until BIGINT, p_event ${KEY}, p_reason ${KEY}, p_tenant ${KEY}`;
  const matches = `failed_at >= p_since AND failed_at < p_until AND (p_event IS NULL OR event_name = p_event)
    AND (p_reason IS NULL OR reason = p_reason) AND (p_tenant IS NULL OR tenant = p_tenant)`;
  const columns = `id, letter, failures, IF(token IS NOT NULL AND claimed_until > v_now, claimed_until, NULL)`;
  // The first one stays.
  const first = `SUBSTRING_INDEX(failures, '\\n', 1)`;
  const others = `SUBSTRING(CONCAT(failures, '\\n', p_failure), LENGTH(${first}) + 2)`;
  const withFailure = `CONCAT(${first}, '\\n', SUBSTRING_INDEX(${others}, '\\n', 1 - p_most))`;
  const free = 'token = NULL, claimed_until = NULL';
  const changed = { variables: 'DECLARE v_changed INT DEFAULT 0;', answer: 'SELECT v_changed > 0' };

  /** For who has claimed a letter. */
  const ofHolder = (name: string, more: string, change: string): Procedure => ({
    name,
    parameters: `p_id ${KEY}, p_token ${TOKEN}${more}`,
    variables: `${changed.variables} DECLARE v_token ${TOKEN}; DECLARE v_until BIGINT;`,
    body: `SELECT token, claimed_until INTO v_token, v_until FROM ${letters} WHERE id = p_id FOR UPDATE;
  SET v_now = ${CLOCK};
  IF v_token = p_token AND v_until > v_now THEN
    SET v_changed = 1;
    ${change} WHERE id = p_id;
  END IF;`,
    answer: changed.answer,
  });
  const removal = deletion(
    letters,
    'id',
    'failed_at < p_before AND (token IS NULL OR claimed_until <= v_now) ORDER BY failed_at, id',
  );

  return [
    {
      name: 'put_letter',
      parameters: `p_id ${KEY}, p_failed_at BIGINT, p_reason ${KEY}, p_event ${KEY}, p_tenant ${KEY},
  p_letter LONGBLOB, p_failure LONGBLOB, p_most INT, p_body LONGBLOB`,
      body: `INSERT INTO ${letters} (id, failed_at, reason, event_name, tenant, letter, failures, body)
    VALUES (p_id, p_failed_at, p_reason, p_event, p_tenant, p_letter, p_failure, p_body)
    ON DUPLICATE KEY UPDATE failed_at = p_failed_at, reason = p_reason, event_name = p_event, tenant = p_tenant,
      letter = p_letter, failures = ${withFailure}, body = p_body, ${free};`,
    },
    {
      name: 'list_letters',
      parameters: `${filter}, p_after_at BIGINT, p_after_id ${KEY}, p_limit INT`,
      body: `SELECT ${columns} FROM ${letters} WHERE ${matches}
    AND failed_at >= p_after_at AND (failed_at > p_after_at OR id > p_after_id) ORDER BY failed_at, id LIMIT p_limit;`,
    },
    {
      name: 'count_letters',
      parameters: filter,
      body: `SELECT COUNT(*) FROM ${letters} WHERE ${matches};`,
    },
    {
      name: 'get_letter',
      parameters: `p_id ${KEY}`,
      body: `SELECT ${columns}, body FROM ${letters} WHERE id = p_id;`,
    },
    {
      name: 'remove_letter',
      parameters: `p_id ${KEY}`,
      ...changed,
      body: `DELETE FROM ${letters} WHERE id = p_id; SET v_changed = ROW_COUNT();`,
    },
    {
      name: 'claim_letter',
      parameters: `p_id ${KEY}, p_token ${TOKEN}, p_lease BIGINT`,
      variables: `DECLARE v_token ${TOKEN}; DECLARE v_until BIGINT;`,
      body: `SELECT token, claimed_until INTO v_token, v_until FROM ${letters} WHERE id = p_id FOR UPDATE;
  SET v_now = ${CLOCK};
  IF v_token IS NULL OR v_token = p_token OR v_until <= v_now THEN
    UPDATE ${letters} SET token = p_token, claimed_until = v_now + p_lease WHERE id = p_id;
    SELECT ${columns}, body FROM ${letters} WHERE id = p_id;
  END IF;`,
    },
    ofHolder(
      'extend_letter',
      ', p_lease BIGINT',
      `UPDATE ${letters} SET claimed_until = v_now + p_lease`,
    ),
    ofHolder('settle_letter', '', `DELETE FROM ${letters}`),
    ofHolder('release_letter', '', `UPDATE ${letters} SET ${free}`),
    ofHolder(
      'fail_letter',
      ', p_failed_at BIGINT, p_failure LONGBLOB, p_most INT',
      `UPDATE ${letters} SET failed_at = p_failed_at, failures = ${withFailure}, ${free}`,
    ),
    {
      name: 'remove_expired',
      parameters: `p_before BIGINT, p_most INT, p_token ${TOKEN}, p_lease BIGINT`,
      variables: `DECLARE v_turn ${KEY}; ${removal.variables}`,
      body: `INSERT INTO ${cursors} (name, position) VALUES ('${TURN}', CONCAT(p_token, ' 0')) ON DUPLICATE KEY UPDATE name = name;
  SELECT position INTO v_turn FROM ${cursors} WHERE name = '${TURN}' FOR UPDATE;
  SET v_now = ${CLOCK};
  IF SUBSTRING_INDEX(v_turn, ' ', 1) = p_token OR CAST(SUBSTRING_INDEX(v_turn, ' ', -1) AS UNSIGNED) <= v_now THEN
    UPDATE ${cursors} SET position = CONCAT(p_token, ' ', v_now + p_lease) WHERE name = '${TURN}';
    ${removal.body}
  ELSE
    SET v_deleted = NULL;
  END IF;`,
      answer: removal.answer,
    },
    {
      name: 'probe_letters',
      parameters: `p_id ${KEY}`,
      body: `INSERT INTO ${letters} (id, failed_at, reason, event_name, tenant, letter, failures, body)
    VALUES (p_id, 0, '', '', '', '', '', '');
  UPDATE ${letters} SET letter = 'probed' WHERE id = p_id;
  DELETE FROM ${letters} WHERE id = p_id;`,
    },
  ];
}
