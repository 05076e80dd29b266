import type { WebhookErrorCode } from '@call-webhooks/core';

/** An outcome in short; `docs/answers.md` has the whole story. */
export interface Explanation {
  readonly when: string;
  readonly fix: string;
}

const nothing = 'Nothing to do.';

/** Every code of the answer table, and the two for wrong configuration. */
export const CODES: Readonly<Record<WebhookErrorCode, Explanation>> = {
  handled: { when: 'The handler finished, and the store committed it.', fix: nothing },
  duplicate: {
    when: 'This event was handled before; the handler did not run again.',
    fix: nothing,
  },
  ignored: {
    when: 'Verified, and there is no handler for it.',
    fix: 'Add a handler, or stop the rule from sending it.',
  },
  queued: { when: 'The queue has it durably; a worker handles it.', fix: nothing },
  'dead-lettered': {
    when: 'It failed too often, or can never be parsed; the deadLetter sink has it.',
    fix: 'Look into the sink, mend the cause, and handle it by hand.',
  },
  'missing-header': {
    when: 'One of the three signature headers is absent.',
    fix: 'Is it from the service? Actions saved before signing was introduced send none: recreate the action. Check headerPrefix, and proxies that drop headers.',
  },
  'malformed-header': {
    when: 'A signature header is not what the service sends: doubled, joined, or an odd format.',
    fix: 'Look for a proxy that changes or doubles headers.',
  },
  'timestamp-out-of-tolerance': {
    when: 'Signed more than five minutes ago, or ahead of the clock.',
    fix: 'Set the clock of the receiver (NTP). An old request that somebody sends again gets this too.',
  },
  'signature-mismatch': {
    when: 'Signed with none of the secrets, or changed on its way.',
    fix: 'Is it the secret of this very action, after the last rotation? Is the raw body verified, before any parser? call-webhooks verify finds the usual causes.',
  },
  'method-not-allowed': { when: 'Not a POST.', fix: 'The service sends POST only.' },
  'body-timeout': {
    when: 'The body did not arrive whole in time.',
    fix: 'Look for a slow network or proxy in front of the receiver.',
  },
  replayed: {
    when: 'This webhook id was seen before: a captured request was sent again.',
    fix: 'Nothing to do. Retries of the service have new ids.',
  },
  'body-too-large': {
    when: 'The body is larger than bodyLimit.',
    fix: 'Raise bodyLimit if a custom payload needs it.',
  },
  'unsupported-encoding': {
    when: 'The body is compressed. The service does not compress.',
    fix: 'Look for a proxy that does.',
  },
  'invalid-payload': {
    when: 'Authentic, but not JSON, or not of the shape that the schema wants.',
    fix: 'Give a deadLetter, so that it does not pause the rule; then mend the schema or the custom payload.',
  },
  'handler-failed': {
    when: 'Your handler threw. The retry runs it again.',
    fix: 'Read the log line. Give a deadLetter, so that one bad event does not pause the rule.',
  },
  'body-already-parsed': {
    when: 'A body parser ran before the receiver, and the raw bytes are gone.',
    fix: 'Mount the receiver before the parser, or keep the bytes: express.json({ verify: keepRawBody }).',
  },
  'in-progress': {
    when: 'Another delivery of the same event is being handled right now.',
    fix: 'Nothing to do, unless handlers run for minutes.',
  },
  deadline: {
    when: 'The handler took longer than ackWithin. It goes on; its retry will be a duplicate.',
    fix: 'Make it quicker, or hand the work to a queue.',
  },
  overloaded: {
    when: 'maxInFlight deliveries are being handled already.',
    fix: 'See what the handlers wait for.',
  },
  'store-unavailable': {
    when: 'The store or the queue failed, or took longer than storeTimeout.',
    fix: 'Look at its server; the log has its error.',
  },
  'secret-unavailable': {
    when: 'The secret provider failed, and no cached secret fits.',
    fix: 'Look at the secrets manager.',
  },
  'shutting-down': {
    when: 'The receiver is being closed.',
    fix: 'Nothing to do, if the process is being replaced.',
  },
  'invalid-secret': {
    when: 'Thrown at the start: a secret is absent, cut off, or has white space around it.',
    fix: 'Copy it whole, whsec_ included; check that the variable is set where the process runs.',
  },
  'invalid-options': {
    when: 'Thrown at the start: an option is unknown, or out of its range.',
    fix: 'The message names every wrong option.',
  },
};
