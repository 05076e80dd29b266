/**
 * The answer table: every outcome and the HTTP status that the service gets for it.
 *
 * The service acknowledges on any 2xx, pauses the rule at once on 404, and retries everything else
 * about every five minutes, a limited number of times (spec, "Errors"). So a non-2xx stands only
 * where a retry can help, and 404, 410 and 3xx never stand here.
 */
export const STATUS = {
  handled: 200,
  duplicate: 200,
  ignored: 200,
  queued: 202,
  'dead-lettered': 200,
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
} as const;

/** What became of one request. Each code has a section in `docs/answers.md`. */
export type OutcomeCode = keyof typeof STATUS;
