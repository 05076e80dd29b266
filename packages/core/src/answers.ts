import type { Outcome } from './outcome.ts';

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

/** The HTTP answer to one request, ready to be written by an adapter. */
export interface Answer {
  readonly status: number;
  /** Lower-case header names. The object is shared between answers: copy it before changing it. */
  readonly headers: Record<string, string>;
  /** JSON, `{"outcome":"…"}`: never holds a secret, a body or a stack trace. */
  readonly body: string;
  readonly outcome: Outcome;
}

type Prepared = Pick<Answer, 'headers' | 'body'>;

function prepare(code: OutcomeCode): Prepared {
  const body = JSON.stringify({ outcome: code });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  if (code === 'method-not-allowed') headers['allow'] = 'POST';
  return { body, headers: Object.freeze(headers) };
}

const codes = Object.keys(STATUS) as OutcomeCode[];
const PREPARED = Object.fromEntries(codes.map((code) => [code, prepare(code)])) as Record<
  OutcomeCode,
  Prepared
>;

/** The answer for an outcome: bodies and headers are made once, at import. */
export function answerFor(outcome: Outcome): Answer {
  const { headers, body } = PREPARED[outcome.outcome];
  return { status: outcome.status, headers, body, outcome };
}
