/** One row of the outcome table: what an outcome means, and what to do about it. */
export interface OutcomeInfo {
  /** The HTTP status of the response. */
  readonly status: number;
  /**
   * What the service does after this status: `acknowledged`, it is done with the event; `retried`, it
   * delivers the event again.
   */
  readonly service: 'acknowledged' | 'retried';
  /** When a delivery has this outcome, in a sentence. */
  readonly when: string;
  /** What to do about it, in a sentence. */
  readonly fix: string;
}

const NOTHING = 'Nothing to do.';

const ROWS = {
  handled: {
    status: 200,
    when: 'The handler finished and the store recorded the event as done.',
    fix: NOTHING,
  },
  duplicate: {
    status: 200,
    when: 'This event was already handled. The handler did not run again.',
    fix: 'Nothing to do. The service delivers at least once, so duplicates are normal.',
  },
  ignored: {
    status: 200,
    when: 'The delivery is authentic, but no handler is registered for its event, and there is no onUnhandled.',
    fix: 'Add a handler or onUnhandled, or stop the rule from sending this event.',
  },
  queued: {
    status: 202,
    when: 'The queue stored the delivery. A worker runs the handler.',
    fix: NOTHING,
  },
  'dead-lettered': {
    status: 200,
    when: 'The event failed maxAttempts times, or its payload is invalid. The dead-letter store has it, or it stays in the queue as a dead job.',
    fix: 'Find the event in your dead letters, fix the cause, and redrive it.',
  },
  'in-dead-letters': {
    status: 200,
    when: 'The event is a dead letter. The handler did not run.',
    fix: 'Fix the cause, and redrive the dead letter.',
  },
  'missing-header': {
    status: 401,
    when: 'One of the three signature headers is missing or empty.',
    fix: 'A webhook action that was saved before signing was introduced sends no headers: recreate the action to give it a secret. Also check headerPrefix, and any proxy that removes headers. If the request did not come from the service, there is nothing to do.',
  },
  'malformed-header': {
    status: 401,
    when: 'A signature header appears twice or has the wrong format.',
    fix: 'The service does not send such headers. Look for a proxy that changes or repeats headers.',
  },
  'timestamp-out-of-tolerance': {
    status: 401,
    when: "The delivery's timestamp differs from the receiver's clock by more than toleranceSeconds (300).",
    fix: "If every delivery fails like this, correct the receiver's clock (NTP). A single delivery like this is an old request that was sent again, and rejecting it is correct.",
  },
  'signature-mismatch': {
    status: 401,
    when: 'No configured secret matches the signature of the raw body.',
    fix: 'Check that the secret of this webhook action is configured: each action has its own, and so does the recording webhook. Check that it was not rotated, and that no proxy or body parser modifies the body.',
  },
  'method-not-allowed': {
    status: 405,
    when: 'The request method is not POST.',
    fix: 'The service only sends POST. Point health checks at another path.',
  },
  'body-timeout': {
    status: 408,
    when: 'The body did not arrive completely within bodyTimeout, or the connection closed early.',
    fix: 'An occasional timeout is harmless. If it happens often, check the network and the proxy in front of the receiver.',
  },
  replayed: {
    status: 409,
    when: 'This webhook id was already received.',
    fix: 'Every retry from the service has a new id, so this request was replayed, or a proxy repeated it. Turn off automatic retries of POST requests in your proxy.',
  },
  'body-too-large': {
    status: 413,
    when: 'The body is larger than bodyLimit.',
    fix: 'Raise bodyLimit if your custom payload is really that large.',
  },
  'unsupported-encoding': {
    status: 415,
    when: 'The body is compressed: its Content-Encoding is not identity.',
    fix: 'Look for a proxy that compresses the bodies of requests. Compressed responses do no harm.',
  },
  'invalid-payload': {
    status: 422,
    when: 'The delivery is authentic, but its body is not valid JSON or does not match your schema.',
    fix: 'Set deadLetter so that such a delivery is kept and does not pause the rule. Then fix the schema or the custom payload.',
  },
  'handler-failed': {
    status: 500,
    when: 'Your handler threw an error. The retry runs it again.',
    fix: 'Read the error in the log line. Set deadLetter so that one bad event cannot pause the rule.',
  },
  'body-already-parsed': {
    status: 500,
    when: 'A body parser ran before the receiver, so the raw bytes are gone.',
    fix: 'Mount the receiver before the parser, or keep the raw bytes: express.json({ verify: keepRawBody }).',
  },
  'in-progress': {
    status: 503,
    when: 'Another delivery of this event is still being handled, another event in the same oneAtATime group is being handled, or the handler lost its lease.',
    fix: 'Nothing to do. If a handler runs for more than 240 seconds, use a queue.',
  },
  deadline: {
    status: 503,
    when: 'The handler took longer than ackWithin. It keeps running. If it succeeds, a later retry is a duplicate.',
    fix: 'Make the handler faster, or use a queue.',
  },
  overloaded: {
    status: 503,
    when: 'The receiver is already handling maxInFlight deliveries.',
    fix: 'Find out what your handlers are waiting for. Raise maxInFlight if the machine can take more.',
  },
  'store-unavailable': {
    status: 503,
    when: 'The store or the queue failed, or took longer than storeTimeout.',
    fix: "Check the store's server. The log line contains its error. If Redis reports READONLY after a failover, make the client reconnect (with ioredis, set reconnectOnError).",
  },
  'secret-unavailable': {
    status: 503,
    when: 'The receiver has no secret, or its secret provider failed and no cached secret matches.',
    fix: 'Give the process of the receiver its signing secrets, for example in CALL_WEBHOOK_SECRET, or check your secrets manager.',
  },
  'shutting-down': {
    status: 503,
    when: 'The receiver is closing.',
    fix: 'Nothing to do if the process is being replaced. Otherwise find out what called close().',
  },
} as const satisfies Record<string, Omit<OutcomeInfo, 'service'>>;

type Rows = typeof ROWS;

/**
 * The outcome table: every way in which a request can end, with the HTTP status, what the service does,
 * when it happens, and how to fix it.
 *
 * The service acknowledges any 2xx, pauses the rule at once on 404, and retries everything else about
 * every five minutes, a limited number of times (spec, "Errors"). A status other than 2xx is therefore
 * used only where a retry can help or the request must be refused, and 404, 410 and 3xx are never used.
 * @example
 * OUTCOMES['deadline'].fix; // 'Make the handler faster, or use a queue.'
 */
export const OUTCOMES = Object.fromEntries(
  Object.entries(ROWS).map(([code, row]) => [
    code,
    { ...row, service: row.status < 300 ? 'acknowledged' : 'retried' },
  ]),
) as { readonly [Code in keyof Rows]: Rows[Code] & Pick<OutcomeInfo, 'service'> };

/**
 * The code of an outcome, such as `handled` or `replayed`. Codes are stable, and each has a section on
 * the page "Outcomes" of the docs.
 */
export type OutcomeCode = keyof typeof OUTCOMES;

/** The HTTP status of each outcome. */
export const STATUS = Object.fromEntries(
  Object.entries(OUTCOMES).map(([code, { status }]) => [code, status]),
) as { readonly [Code in OutcomeCode]: (typeof OUTCOMES)[Code]['status'] };

/** Errors that are thrown to the code that calls us, and never sent as a response of a receiver. */
export const THROWN_ERRORS = {
  'invalid-secret': {
    thrown: 'at start-up',
    when: 'A signing secret is missing, truncated or malformed.',
    fix: 'Copy the whole secret, including whsec_, from the response that created or rotated the action. Check that the environment variable is set.',
  },
  'invalid-options': {
    thrown: 'at start-up',
    when: 'An option is unknown or out of range.',
    fix: 'The error message names each invalid option.',
  },
  'invalid-cursor': {
    thrown: 'by a list',
    when: 'This list never returned such a cursor: the cursor is damaged, or it belongs to a list in another store.',
    fix: 'Pass the cursor that the previous page returned, unchanged. Leave the cursor out to get the first page.',
  },
} as const satisfies Record<string, Pick<OutcomeInfo, 'when' | 'fix'> & { thrown: string }>;
