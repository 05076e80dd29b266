/** The version of the tables and the procedures. A release that changes one of them raises it. */
export const VERSION = 1;

/**
 * A stored procedure: one call of a store. It is a transaction of its own, under READ COMMITTED, which takes
 * no gap locks, and waits a second for a lock. So a call is one round trip, and neither `sql_mode`, isolation,
 * `autocommit` nor time zone of a connection have an influence on it.
 *
 * A procedure locks its rows first and reads the clock then: it may have waited for them.
 */
export interface Procedure {
  readonly name: string;
  readonly parameters: string;
  /** Declarations of variables, besides `v_now`. */
  readonly variables?: string;
  readonly body: string;
  /** A SELECT, after the commit. Absent: the body gives the rows. */
  readonly answer?: string;
}

/** The server's clock, in milliseconds since the epoch: when the statement began. */
export const CLOCK = `(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)`;

/** Keys are bytes: collations take some texts that differ for the same one. The longest has 256 characters. */
export const KEY = 'VARBINARY(1024)';
export const TOKEN = 'VARBINARY(255)';
/** The name of a counter or a mark. */
export const COUNTER = 'VARBINARY(2048)';

export const createProcedure = (prefix: string, procedure: Procedure): string => {
  const { name, parameters, variables = '', body, answer = 'DO 0' } = procedure;
  return `CREATE PROCEDURE ${prefix}${name}(${parameters})
  SQL SECURITY INVOKER MODIFIES SQL DATA
BEGIN
  DECLARE v_waits INT DEFAULT @@SESSION.innodb_lock_wait_timeout;
  DECLARE v_now BIGINT DEFAULT ${CLOCK};
  ${variables}
  DECLARE EXIT HANDLER FOR SQLEXCEPTION
  BEGIN
    ROLLBACK;
    SET SESSION innodb_lock_wait_timeout = v_waits;
    RESIGNAL;
  END;
  SET SESSION innodb_lock_wait_timeout = 1;
  COMMIT; -- what a SELECT has begun where autocommit is off
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION;
  IF COALESCE((SELECT MAX(version) FROM ${prefix}schema_version), 0) <> ${String(VERSION)} THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'call-webhooks: these tables are those of another release';
  END IF;
  ${body}
  COMMIT;
  SET SESSION innodb_lock_wait_timeout = v_waits;
  ${answer};
END`;
};

/**
 * Deletes up to `p_most` rows. It waits for no lock, so it and the other calls can't wait for each other.
 * @param which a condition, and the order
 */
export const deletion = (table: string, key: string, which: string) => ({
  variables: `DECLARE v_key ${KEY}; DECLARE v_deleted INT DEFAULT 0; DECLARE v_more BOOLEAN DEFAULT TRUE;
  DECLARE v_old CURSOR FOR SELECT ${key} FROM ${table} WHERE ${which} LIMIT p_most FOR UPDATE SKIP LOCKED;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET v_more = FALSE;`,
  body: `OPEN v_old;
  SET v_more = TRUE;
  FETCH v_old INTO v_key;
  WHILE v_more DO
    DELETE FROM ${table} WHERE ${key} = v_key;
    SET v_deleted = v_deleted + 1;
    FETCH v_old INTO v_key;
  END WHILE;
  CLOSE v_old;`,
  answer: 'SELECT v_deleted',
});
