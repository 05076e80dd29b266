/** The status of each outcome, written down a second time: the receiver's own table is under test. */
const STATUS: Readonly<Record<string, number>> = {
  handled: 200,
  duplicate: 200,
  ignored: 200,
  queued: 202,
  'dead-lettered': 200,
  'in-dead-letters': 200,
  'missing-header': 401,
  'malformed-header': 401,
  'timestamp-out-of-tolerance': 401,
  'signature-mismatch': 401,
  'method-not-allowed': 405,
  'body-timeout': 408,
  replayed: 409,
  'body-too-large': 413,
  'unsupported-encoding': 415,
  'invalid-payload': 422,
  'handler-failed': 500,
  'body-already-parsed': 500,
  'in-progress': 503,
  deadline: 503,
  overloaded: 503,
  'store-unavailable': 503,
  'secret-unavailable': 503,
  'shutting-down': 503,
};

/** The status that an outcome must have; `undefined` for an unknown outcome. */
export const expectedStatus = (outcome: string): number | undefined => STATUS[outcome];

/** Whether the service does not send the event again after this outcome. */
export const isAcknowledged = (outcome: string): boolean => (STATUS[outcome] ?? 0) < 300;
