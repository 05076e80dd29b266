import type { WebhookError } from './errors.ts';
import { type OutcomeCode, OUTCOMES } from './outcome-table.ts';

/**
 * Where a delivery comes from: `webhook`, a request of the service; `queue`, a job in a queue worker;
 * `redrive`, a dead letter that is run again; or `reconcile`, an event that never arrived and was found
 * in the list of calls.
 */
export type DeliverySource = (typeof DELIVERY_SOURCES)[number];

/** All values of `DeliverySource`. */
export const DELIVERY_SOURCES = ['webhook', 'queue', 'redrive', 'reconcile'] as const;

/**
 * How one delivery ended. The receiver passes it to `onOutcome`, and it is a part of each
 * `ReceiverResponse`.
 */
export interface Outcome {
  /**
   * The code of the outcome, such as `handled`. `OUTCOMES` has the status, the meaning and the fix of
   * each code.
   */
  outcome: OutcomeCode;
  /**
   * Where the delivery comes from. It is `redrive` or `reconcile` even if the command line sends the
   * event over the network.
   */
  source: DeliverySource;
  /**
   * The HTTP status of the response. For a `late` outcome, and in a queue worker, this is the status
   * that a receiver would have responded with.
   */
  status: number;
  /** Milliseconds from the start of the request, or of the job's run, to the outcome. */
  durationMs: number;
  /** The tenant that the request names. The name is verified only if `webhookId` is set. */
  tenant?: string;
  /** The id of the delivery. It is set once the delivery has been verified. */
  webhookId?: string;
  /**
   * The name of the event, such as `call:completed`. It is absent until the body has been parsed, and
   * for a custom payload.
   */
  eventName?: string;
  /** The id of the call, if the body has one. */
  callId?: string;
  /**
   * The idempotency key of the event. An event without a key cannot be recognized as a duplicate, and
   * is handled each time it arrives.
   */
  key?: string;
  /** The number of this attempt at the event, counted from 1. It is absent if no attempt was made. */
  attempt?: number;
  /**
   * The number of attempts that are left before the event goes to `deadLetter`, or before the queue
   * gives up. It is set when an attempt failed. It is absent in a receiver without `deadLetter`,
   * because only the service knows how often it retries.
   */
  attemptsLeft?: number;
  /** How long the handler ran, in milliseconds. It is absent if no handler ran. */
  handlerMs?: number;
  /** How long the store took to claim the event and to mark it as done, in milliseconds. */
  storeMs?: number;
  /**
   * How long the delivery waited for another event of its group (`oneAtATime`), in milliseconds. It is
   * absent if it did not wait.
   */
  waitMs?: number;
  /**
   * Milliseconds from the signature to the arrival at the receiver, precise to the second. In a queue
   * worker, milliseconds from the arrival at the receiver to the start of the run. It is never
   * negative.
   */
  lagMs?: number;
  /** `true` in a queue worker. It is absent in a receiver. */
  queued?: true;
  /** The `id` of the secret that verified the delivery. It is never the secret itself. */
  secretId?: string;
  /** Why the event was not handled. Its message contains no secret and nothing from the body. */
  error?: WebhookError;
  /**
   * `true` on the second outcome of a delivery whose first outcome was `deadline`. The second one
   * reports how the handler ended. Leave such outcomes out when you count deliveries.
   */
  late?: true;
}

/** What is known about a delivery so far. It is filled in as the delivery is handled. */
export type PendingOutcome = Omit<Outcome, 'outcome' | 'status' | 'durationMs' | 'error' | 'late'>;

/** The result of a delivery. */
export interface Result {
  readonly outcome: OutcomeCode;
  readonly error?: WebhookError | undefined;
}

/** The HTTP response to one request, ready for an adapter to write. */
export interface ReceiverResponse {
  /** The HTTP status: never 404, 410 or 3xx, which would pause the rule or lose the event. */
  readonly status: number;
  /**
   * The response headers, with lower-case names. Responses share this frozen object: copy it before you
   * change it.
   */
  readonly headers: Record<string, string>;
  /** The JSON text `{"outcome":"…"}`. It never contains a secret, the request body or a stack trace. */
  readonly body: string;
  /** How the delivery ended. */
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

/** `{"outcome":"…"}` is short. A longer body comes from another server. */
const LONGEST_BODY = 200;

/** The outcome that a receiver names in its response. @returns undefined if the response is none of ours */
export function outcomeNamedIn(status: number, body: string): OutcomeCode | undefined {
  if (body.length > LONGEST_BODY) return undefined;
  const [, code = ''] = /"outcome"\s*:\s*"([a-z-]+)"/.exec(body) ?? [];
  return codes.find((one) => one === code && OUTCOMES[one].status === status);
}

/** The response for an outcome. Bodies and headers are built once, at import. */
export function responseFor(outcome: Outcome): ReceiverResponse {
  const { headers, body } = PREPARED[outcome.outcome];
  return { status: outcome.status, headers, body, outcome };
}
