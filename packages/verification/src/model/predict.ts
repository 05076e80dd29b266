import type { EventModel } from './event-model.ts';
import { MAX_ATTEMPTS, type Machine } from './machine.ts';
import type { SentRequest } from './service.ts';
import { commits, cuts, isTransactionEnd, type Ending } from './transactions.ts';

const TOLERANCE_SECONDS = 300;

/** Possible outcomes of a handler that a shutdown abandoned; none of them acknowledges. */
export const CLOSED_UNFINISHED = [
  ...['deadline', 'in-progress', 'handler-failed', 'store-unavailable', 'shutting-down'],
];

/** Possible outcomes of a delivery that waits for its group: what happens meanwhile is not known. */
export const WAITED = [
  ...['handled', 'handler-failed', 'dead-lettered', 'deadline', 'duplicate', 'in-dead-letters'],
  ...['in-progress', 'store-unavailable', 'shutting-down'],
];

/**
 * The possible outcomes of a delivery, predicted before it is sent. A slow handler gives `deadline`.
 * @param active the secrets that the provider returns; a machine may still know older ones
 */
export function predict(
  sent: SentRequest,
  machine: Machine,
  model: EventModel,
  active: readonly string[],
  now: number,
): string[] {
  const outcome = predictOutcome(sent, machine, model, now);
  const signatureFirst = outcome !== 'timestamp-out-of-tolerance' && !active.includes(sent.secret);
  const outcomes = outcome === 'a wait' ? WAITED : [outcome];
  return signatureFirst ? ['signature-mismatch', ...outcomes] : outcomes;
}

const isOutOfTolerance = ({ signedFor }: SentRequest, now: number): boolean =>
  Math.abs(Math.floor(now / 1000) - Math.floor(signedFor / 1000)) > TOLERANCE_SECONDS;

/** The outcome of a request of one tenant that is sent to another one. */
export const predictStray = (sent: SentRequest, now: number): string =>
  isOutOfTolerance(sent, now) ? 'timestamp-out-of-tolerance' : 'signature-mismatch';

function predictOutcome(
  sent: SentRequest,
  machine: Machine,
  model: EventModel,
  now: number,
): string {
  if (isOutOfTolerance(sent, now)) return 'timestamp-out-of-tolerance';
  if (machine.closing) return 'shutting-down';
  if (machine.store.fault !== 'none') return 'store-unavailable';
  // Its signature still verifies, so the id must be remembered.
  if (model.saw(sent.webhookId)) return 'replayed';
  if (model.isDone(sent.key)) return 'duplicate';
  if (model.isDead(sent.key)) return 'in-dead-letters';
  if (model.lease(sent.key) !== undefined) return 'in-progress';
  if (model.isBusy(sent.group)) return 'a wait';
  const attempt = model.attempts(sent.key) + 1;
  const deadLettered = machine.sinkFails ? 'handler-failed' : 'dead-lettered';
  if (attempt > 3 * MAX_ATTEMPTS) return deadLettered;
  if (sent.behaviour === 'slow') return 'deadline';
  if (isTransactionEnd(sent.behaviour)) {
    if (cuts(sent.behaviour)) return 'store-unavailable';
    if (commits(sent.behaviour)) return 'handled';
  }
  if (sent.behaviour === 'ok') return 'handled';
  return attempt < MAX_ATTEMPTS ? 'handler-failed' : deadLettered;
}

/** The outcome of a delivery whose slow handler ends now. */
export function predictEnd(
  { key, attempt, token, ending }: { key: string; attempt: number; token: string; ending: Ending },
  machine: Machine,
  model: EventModel,
): string {
  let ok = ending === 'ok';
  // With a fault, completeIn fails, and the receiver knows that nothing was committed.
  if (isTransactionEnd(ending) && machine.store.fault === 'none') {
    if (model.lease(key) !== token) return 'in-progress';
    if (cuts(ending)) return 'store-unavailable';
    ok = commits(ending);
  }
  const deadLetters = !ok && attempt >= MAX_ATTEMPTS && !machine.sinkFails;
  if (!ok && !deadLetters) return 'handler-failed';
  if (machine.store.fault !== 'none') return 'store-unavailable';
  if (model.lease(key) !== token) return 'in-progress';
  return deadLetters ? 'dead-lettered' : 'handled';
}
