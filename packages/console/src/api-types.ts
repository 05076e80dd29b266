import type { OutcomeCode } from '@call-webhooks/core';
import type { OutcomeInfo } from '@call-webhooks/core/internal';

export type * from './api-types/overview.ts';
export type * from './api-types/deliveries.ts';
export type * from './api-types/dead-letters.ts';
export type * from './api-types/recovery.ts';

// The console's JSON API. The server and the page share these types, and nothing else.
//
// Paths are relative to where the console is mounted. Times are milliseconds since the epoch, durations
// are milliseconds. Every answer is JSON; one that is not 2xx is an `ApiError`.
//
// A POST needs `content-type: application/json` and the token of `GET api/session` in `CSRF_HEADER`.
//
// | route                              | query, body              | answer             |
// | ---------------------------------- | ------------------------ | ------------------ |
// | GET  api/session                   |                          | Session            |
// | GET  api/overview                  | OverviewQuery            | Overview           |
// | GET  api/deliveries                | DeliveriesQuery          | DeliveriesPage     |
// | GET  api/calls/:callId             | ?tenant=                 | CallTimeline       |
// | GET  api/dead-letters              | DeadLettersQuery         | DeadLettersPage    |
// | GET  api/dead-letters/:id          |                          | DeadLetterDetail   |
// | POST api/dead-letters/:id/reveal   | {}                       | DeadLetterDetail   |
// | POST api/dead-letters/:id/remove   | {}                       | Removed            |
// | GET  api/redrive                   |                          | { task?: RedriveTask } |
// | POST api/redrive                   | RedriveRequest           | { task: RedriveTask } |
// | POST api/redrive/abort             | {}                       | { task?: RedriveTask } |
// | GET  api/reconcile                 |                          | ReconcileState     |
// | POST api/reconcile                 | ReconcileRequest         | ReconcileState     |
// | POST api/reconcile/abort           | {}                       | ReconcileState     |

/** The header that every POST needs: the `csrfToken` of the session. */
export const CSRF_HEADER = 'x-call-webhooks-csrf';

/** Every answer that is not 2xx. */
export interface ApiError {
  error: {
    code: ApiErrorCode;
    /** What is wrong and what to do, for people. Contains nothing of the request. */
    message: string;
  };
}

export type ApiErrorCode =
  /** 403, or 401 where `authorize` asks for credentials. */
  | 'unauthorized'
  /** 403: the console or this person may only read. */
  | 'read-only'
  /** 403: the request does not come from the console's page. */
  | 'cross-origin'
  /** 403: load `api/session` again for a new token. */
  | 'csrf-token'
  /** 400: no such path below the console. */
  | 'unknown-path'
  /** 405 */
  | 'method-not-allowed'
  /** 400: a query or body that cannot be used. */
  | 'invalid-request'
  /** 413 */
  | 'body-too-large'
  /** 415: a POST that is not JSON. */
  | 'unsupported-type'
  /** 409: a redrive or a reconcile is running already. */
  | 'already-running'
  /** 422: there is no such dead letter (any more). */
  | 'unknown-letter'
  /** 422: this console was created without `deadLetters` or `reconcile`. */
  | 'not-configured'
  /** 503: the store of dead letters does not answer. */
  | 'store-unavailable'
  /** 500 */
  | 'internal';

/** Who asks, and what this console can do. */
export interface Session {
  /** The name that `authorize` gave; `null` if it only said yes. */
  name: string | null;
  /** Whether this person may redrive, remove, reveal and reconcile. */
  canWrite: boolean;
  /** Whether the console was created with `readOnly`. */
  readOnly: boolean;
  /** For `CSRF_HEADER`. Valid for 12 hours, for this person. */
  csrfToken: string;
  /** The store of dead letters, the dead jobs of a queue, or `null` without either. */
  deadLetters: 'store' | 'jobs' | null;
  /** Whether there is a client to reconcile with. */
  reconcile: boolean;
  /** The outcome table, by code. */
  outcomes: Record<OutcomeCode, OutcomeRow>;
  /** The page of the docs that tells how the names of fields are learned. */
  fieldNamesDocs: string;
}

/** A row of the outcome table, with a link to its page in the docs. */
export interface OutcomeRow extends OutcomeInfo {
  docs: string;
}
