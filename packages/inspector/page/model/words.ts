import type {
  AttemptSummary,
  ChaosMode,
  DeliveryState,
  DeliverySummary,
  PauseReason,
  PolicyView,
} from '@call-webhooks/simulator/control-api';
import type { IconName } from '../dom/icon.ts';
import { span } from './time.ts';

/** The states, in the order in which they are shown. */
export const STATES: readonly { state: DeliveryState; label: string; icon: IconName }[] = [
  { state: 'acknowledged', label: 'Acknowledged', icon: 'check' },
  { state: 'in-flight', label: 'In flight', icon: 'flight' },
  { state: 'waiting', label: 'Waiting', icon: 'clock' },
  { state: 'failed', label: 'Failed', icon: 'cross' },
  { state: 'held', label: 'Held', icon: 'pause' },
  { state: 'dropped', label: 'Dropped', icon: 'minus' },
];

export const PAUSED: Readonly<Record<PauseReason, string>> = {
  'answered-404': 'its URL answered 404, so it is taken to be gone',
  'last-attempt-failed': 'the last attempt to deliver an event failed',
  'by-hand': 'somebody paused it',
};

export const CHAOS: Readonly<Record<ChaosMode, readonly [label: string, does: string]>> = {
  duplicate: ['Duplicate', 'An event is sent a second time, seconds later'],
  concurrentDuplicates: ['Concurrent duplicates', 'Up to three copies are sent at the same time'],
  reorder: ['Reorder', 'A delivery is held back, so that later ones overtake it'],
  dropResponse: ['Drop the answer', 'The receiver does its work, and its answer gets lost'],
  slowBody: ['Slow body', 'The body trickles in, piece by piece'],
  wrongSecret: ['Wrong secret', 'Signed with a secret that nobody knows'],
  oldSecret: ['Old secret', 'Signed with the secret before the last rotation'],
  clockSkew: ['Clock skew', 'The timestamp is more than five minutes off'],
  replay: ['Replay', 'A captured request is sent again as it was'],
  tamperedBody: ['Tampered body', 'The body is changed after it was signed'],
};

/** What came of an attempt, in a word or two. */
export function answerText({ response: answer, dropped }: AttemptSummary): string {
  if (!answer) return 'no answer yet';
  if (dropped) return 'answer lost';
  if (answer.kind === 'status') return String(answer.status);
  return answer.kind === 'timeout' ? 'timed out' : answer.code;
}

/** How an attempt is coloured. */
export function attemptTone(attempt: AttemptSummary): 'good' | 'bad' | 'wait' | 'gone' {
  if (attempt.kind === 'replay') return 'gone';
  if (!attempt.result) return 'wait';
  if (attempt.result.next === 'acknowledged') return 'good';
  return 'bad';
}

const scheduled = ({ attempts }: DeliverySummary) =>
  attempts.filter(({ kind }) => kind === 'scheduled');

/** Why a delivery is in its state, as a clause; the next attempt's time is shown beside it. */
export function because(delivery: DeliverySummary, policy: PolicyView): string {
  const last = scheduled(delivery).at(-1);
  switch (delivery.state) {
    case 'waiting':
      if (last) return `retried, because ${failure(last, policy)}`;
      return delivery.copiedBy === undefined ? 'held back by chaos' : 'a copy, made by chaos';
    case 'in-flight':
      return 'the receiver is working on it';
    case 'acknowledged':
      return last && last.number > 1 ? `after ${String(last.number)} attempts` : '';
    case 'failed':
      return last ? `${failure(last, policy)}; ${outcome(last)}` : '';
    case 'held':
      return 'its rule is paused; it is sent when the rule is resumed';
    case 'dropped':
      return 'its rule is paused; it is not sent';
  }
}

function outcome({ result }: AttemptSummary): string {
  return result?.next === 'paused' && result.reason === 'answered-404'
    ? 'the rule was paused at once'
    : 'it was the last attempt, so the rule was paused';
}

function failure(attempt: AttemptSummary, { acknowledgeWithin }: PolicyView): string {
  const { response: answer, dropped } = attempt;
  if (dropped) return 'the answer got lost (chaos)';
  if (answer?.kind === 'status') return `the receiver answered ${String(answer.status)}`;
  if (answer?.kind === 'timeout') return `there was no answer within ${span(acknowledgeWithin)}`;
  return `the connection failed (${answer?.code ?? 'unknown'})`;
}

/** `2 of 6`: the attempt that is due next. */
export const nextAttempt = (delivery: DeliverySummary, { maxAttempts }: PolicyView): string =>
  `${String(scheduled(delivery).length + 1)} of ${String(maxAttempts)}`;
