import { CLOCK, deletion, KEY, TOKEN, type Procedure } from './procedure.ts';

/** The calls of a store. Webhook ids are locked first, then groups, then events. */
export function storeProcedures(prefix: string): Procedure[] {
  const ids = `${prefix}webhook_ids`;
  const events = `${prefix}events`;
  const groups = `${prefix}event_groups`;
  const cursors = `${prefix}cursors`;

  /** Locks the row of an event, and reads what is in it, by the clock that is read then. */
  const lockEvent = `SELECT token, attempt, state, lease_until, keep_until
    INTO v_token, v_attempt, v_state, v_lease, v_keep FROM ${events} WHERE event_key = p_key FOR UPDATE;
  SET v_now = ${CLOCK};`;
  const ofEvent = `DECLARE v_token ${TOKEN}; DECLARE v_attempt INT; DECLARE v_state VARCHAR(16);
  DECLARE v_lease BIGINT; DECLARE v_keep BIGINT;`;
  /** For who holds the lease. */
  const ofHolder = (name: string, more: string, change: string): Procedure => ({
    name,
    parameters: `p_key ${KEY}, p_token ${TOKEN}, ${more}`,
    variables: `DECLARE v_held BOOLEAN DEFAULT FALSE; ${ofEvent}`,
    body: `${lockEvent}
  IF v_token = p_token AND v_state = 'open' AND v_lease > v_now THEN
    SET v_held = TRUE;
    UPDATE ${events} SET ${change} WHERE event_key = p_key;
  END IF;`,
    answer: 'SELECT v_held',
  });
  const deletingEvent = (name: string, which: string): Procedure => ({
    name,
    parameters: `p_key ${KEY}`,
    variables: `DECLARE v_changed INT;`,
    body: `DELETE FROM ${events} WHERE event_key = p_key AND ${which};
  SET v_changed = ROW_COUNT();`,
    answer: 'SELECT v_changed > 0',
  });

  return [
    {
      name: 'admit',
      parameters: `p_id ${KEY}, p_token ${TOKEN}, p_keep_id BIGINT, p_key ${KEY}, p_lease BIGINT, p_keep BIGINT, p_group ${KEY}`,
      variables: `DECLARE v_status VARCHAR(16) DEFAULT 'admitted';
  DECLARE v_last ${KEY}; DECLARE v_busy BOOLEAN DEFAULT FALSE; ${ofEvent}`,
      // A row that is missing is inserted before it is read: else two claims would both find none.
      body: `INSERT INTO ${ids} (id, token, keep_until) VALUES (p_id, p_token, v_now + p_keep_id)
    ON DUPLICATE KEY UPDATE id = p_id;
  SELECT token, keep_until INTO v_token, v_keep FROM ${ids} WHERE id = p_id FOR UPDATE;
  SET v_now = ${CLOCK};
  IF v_token <> p_token AND v_keep > v_now THEN
    SET v_status = 'replayed';
  ELSEIF v_token <> p_token THEN
    UPDATE ${ids} SET token = p_token, keep_until = v_now + p_keep_id WHERE id = p_id;
  END IF;
  IF v_status = 'admitted' AND p_group IS NOT NULL THEN
    INSERT INTO ${groups} (id, event_key, keep_until) VALUES (p_group, p_key, v_now + p_keep)
      ON DUPLICATE KEY UPDATE id = p_group;
    SELECT event_key INTO v_last FROM ${groups} WHERE id = p_group FOR UPDATE;
    SELECT state, lease_until INTO v_state, v_lease FROM ${events} WHERE event_key = v_last FOR UPDATE;
    SET v_now = ${CLOCK};
    SET v_busy = COALESCE(v_last <> p_key AND v_state = 'open' AND v_lease > v_now, FALSE);
  END IF;
  IF v_status = 'admitted' AND p_key IS NOT NULL THEN
    IF NOT v_busy THEN
      INSERT INTO ${events} (event_key, token, attempt, state, lease_until, keep_until)
        VALUES (p_key, p_token, 0, 'open', 0, v_now + p_keep) ON DUPLICATE KEY UPDATE event_key = p_key;
    END IF;
    SET v_keep = NULL;
    ${lockEvent}
    SET v_status = CASE
      WHEN v_keep > v_now AND v_state = 'done' THEN 'duplicate'
      WHEN v_keep > v_now AND v_state = 'dead-lettered' THEN 'dead-lettered'
      WHEN v_keep > v_now AND v_token <> p_token AND v_lease > v_now THEN 'in-progress'
      WHEN v_busy THEN 'group-busy'
      ELSE 'admitted' END;
    IF v_status = 'admitted' THEN
      SET v_attempt = CASE
        WHEN v_keep <= v_now THEN 1
        WHEN v_token = p_token AND v_lease > v_now THEN v_attempt
        ELSE v_attempt + 1 END;
      UPDATE ${events} SET token = p_token, attempt = v_attempt, state = 'open',
        lease_until = v_now + p_lease, keep_until = v_now + p_keep WHERE event_key = p_key;
      UPDATE ${groups} SET event_key = p_key, keep_until = v_now + p_keep WHERE id = p_group;
    END IF;
  END IF;`,
      answer: 'SELECT v_status, COALESCE(v_attempt, 1)',
    },
    ofHolder(
      'end_lease',
      'p_how VARCHAR(16)',
      `state = IF(p_how = 'released', 'open', p_how), lease_until = IF(p_how = 'released', 0, lease_until)`,
    ),
    ofHolder('extend', 'p_lease BIGINT', 'lease_until = v_now + p_lease'),
    deletingEvent('reopen', `state = 'dead-lettered' AND keep_until > v_now`),
    deletingEvent('forget', `(state <> 'open' OR lease_until <= v_now)`),
    {
      name: 'peek',
      parameters: 'p_keys LONGTEXT CHARACTER SET utf8mb4',
      body: `SELECT event_key, CASE WHEN state = 'dead-lettered' THEN state WHEN state = 'done' THEN 'handled'
    WHEN lease_until > v_now THEN 'running' ELSE 'failed' END
  FROM JSON_TABLE(p_keys, '$[*]' COLUMNS (hex VARCHAR(2048) PATH '$')) AS asked
  JOIN ${events} ON event_key = UNHEX(hex) WHERE keep_until > v_now;`,
    },
    {
      name: 'load_cursor',
      parameters: `p_name ${KEY}`,
      body: `SELECT position FROM ${cursors} WHERE name = p_name;`,
    },
    {
      name: 'save_cursor',
      parameters: `p_name ${KEY}, p_position LONGBLOB`,
      body: `IF p_position IS NULL THEN
    DELETE FROM ${cursors} WHERE name = p_name;
  ELSE
    INSERT INTO ${cursors} (name, position) VALUES (p_name, p_position) ON DUPLICATE KEY UPDATE position = p_position;
  END IF;`,
    },
    {
      name: 'probe',
      parameters: `p_name ${KEY}`,
      body: `INSERT INTO ${ids} (id, token, keep_until) VALUES (p_name, '', 0);
  UPDATE ${ids} SET keep_until = 1 WHERE id = p_name;
  DELETE FROM ${ids} WHERE id = p_name;
  INSERT INTO ${events} (event_key, token, attempt, state, lease_until, keep_until) VALUES (p_name, '', 0, 'open', 0, 0);
  UPDATE ${events} SET keep_until = 1 WHERE event_key = p_name;
  DELETE FROM ${events} WHERE event_key = p_name;
  INSERT INTO ${groups} (id, event_key, keep_until) VALUES (p_name, '', 0);
  UPDATE ${groups} SET keep_until = 1 WHERE id = p_name;
  DELETE FROM ${groups} WHERE id = p_name;`,
    },
    sweepOf('webhook_ids', ids, 'id'),
    sweepOf('events', events, 'event_key'),
    sweepOf('event_groups', groups, 'id'),
  ];
}

/** Deletes old rows. */
const sweepOf = (name: string, table: string, key: string): Procedure => ({
  name: `sweep_${name}`,
  parameters: 'p_most INT',
  ...deletion(table, key, 'keep_until <= v_now ORDER BY keep_until'),
});
