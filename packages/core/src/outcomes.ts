import type { WebhookError } from './errors.ts';
import { type OutcomeCode, OUTCOMES } from './outcome-table.ts';

/**
 * Where a delivery comes from: the service's request, a queue's worker, a redriven dead letter, or
 * the reconciliation of calls that were missed.
 */
export type DeliverySource = (typeof DELIVERY_SOURCES)[number];

/** All values of `DeliverySource`. */
export const DELIVERY_SOURCES = ['webhook', 'queue', 'redrive', 'reconcile'] as const;

/** How one delivery ended: passed to `onOutcome`, and part of each `ReceiverResponse`. */
export interface Outcome {
  outcome: OutcomeCode;
  /** Who sent it: `redrive` and `reconcile` also for what the command line sends over the network. */
  source: DeliverySource;
  /** The HTTP status of the response. For a `late` outcome: the one that would have been sent. */
  status: number;
  /** Milliseconds since the request reached the receiver. */
  durationMs: number;
  /** The tenant that the request names. It is verified if there is a `webhookId`. */
  tenant?: string;
  /** Set once the delivery was verified. */
  webhookId?: string;
  eventName?: string;
  callId?: string;
  /** The idempotency key. An authentic event without one cannot be recognized as a duplicate. */
  key?: string;
  /** 1 the first time that this event runs. */
  attempt?: number;
  /**
   * How many attempts are left before the event goes to `deadLetter`; set when one failed. Absent in
   * a receiver without `deadLetter`: how often the service retries is its own affair.
   */
  attemptsLeft?: number;
  /** Milliseconds that the handler took. Absent if it did not run. */
  handlerMs?: number;
  /** Milliseconds in which the store claimed the event and marked it as done. */
  storeMs?: number;
  /** Milliseconds that it waited for another event of its group (`oneAtATime`). Absent if it did not. */
  waitMs?: number;
  /**
   * Milliseconds from the signature to the receiver, to the second; in a queue's worker, from the
   * receiver to the start of the run. Never negative.
   */
  lagMs?: number;
  /** Set in a queue's worker. Its `status` is the one that a receiver would have responded with. */
  queued?: true;
  /** The `id` of the secret that verified the delivery, never the secret itself. */
  secretId?: string;
  /** Why it was not handled. Its message contains no secret and nothing from the body. */
  error?: WebhookError;
  /** Set on the second outcome of a delivery that was answered `deadline`: how its handler ended. */
  late?: true;
}

/** What is known of a delivery so far. It fills up on the way. */
export type PendingOutcome = Omit<Outcome, 'outcome' | 'status' | 'durationMs' | 'error' | 'late'>;

/** What a delivery came to. */
export interface Result {
  readonly outcome: OutcomeCode;
  readonly error?: WebhookError | undefined;
}

/** The HTTP response to one request, ready to be written by an adapter. */
export interface ReceiverResponse {
  readonly status: number;
  /** Lower-case header names. Responses share this object: copy it before you change it. */
  readonly headers: Record<string, string>;
  /** JSON, `{"outcome":"…"}`. It never contains a secret, the request body or a stack trace. */
  readonly body: string;
  readonly outcome: Outcome;
}

function prepare(code: OutcomeCode): Pick<ReceiverResponse, 'headers' | 'body'> {
  const body = JSON.stringify({ outcome: code });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  if (code === 'method-not-allowed') headers['allow'] = 'POST';
  // A server waits for its connections, and this one would be kept open for the next delivery.
  if (code === 'shutting-down') headers['connection'] = 'close';
  return { body, headers: Object.freeze(headers) };
}

const codes = Object.keys(OUTCOMES) as OutcomeCode[];
const PREPARED = Object.fromEntries(codes.map((code) => [code, prepare(code)])) as {
  [Code in OutcomeCode]: ReturnType<typeof prepare>;
};

/** The response for an outcome. Bodies and headers are built once, at import. */
export function responseFor(outcome: Outcome): ReceiverResponse {
  const { headers, body } = PREPARED[outcome.outcome];
  return { status: outcome.status, headers, body, outcome };
}
