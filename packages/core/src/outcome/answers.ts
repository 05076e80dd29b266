import { STATUS, type OutcomeCode } from './outcome-code.ts';
import type { Outcome } from './outcome.ts';

/** The HTTP answer to one request, ready to be written by an adapter. */
export interface ReceiverResponse {
  readonly status: number;
  /** Lower-case header names. The object is shared between answers: copy it before changing it. */
  readonly headers: Record<string, string>;
  /** JSON, `{"outcome":"…"}`: never holds a secret, a body or a stack trace. */
  readonly body: string;
  readonly outcome: Outcome;
}

type Prepared = Pick<ReceiverResponse, 'headers' | 'body'>;

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
export function responseFor(outcome: Outcome): ReceiverResponse {
  const { headers, body } = PREPARED[outcome.outcome];
  return { status: outcome.status, headers, body, outcome };
}
