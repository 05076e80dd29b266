import type {
  Action,
  AttemptSummary,
  ChaosMode,
  WebhookEventState,
  WebhookEventSummary,
  PauseReason,
  PolicyView,
} from '@call-webhooks/simulator/control-api';
import { span, type IconName, type Tone } from '@call-webhooks/ui';

interface Look {
  readonly label: string;
  readonly icon: IconName;
  readonly tone: Tone;
}

/** How each state looks, in display order. */
export const STATES: Readonly<Record<WebhookEventState, Look>> = {
  acknowledged: { label: 'Acknowledged', icon: 'check', tone: 'good' },
  'in-flight': { label: 'In flight', icon: 'flight', tone: 'info' },
  waiting: { label: 'Waiting', icon: 'clock', tone: 'wait' },
  failed: { label: 'Failed', icon: 'cross', tone: 'bad' },
  held: { label: 'Held', icon: 'pause', tone: 'muted' },
  dropped: { label: 'Dropped', icon: 'minus', tone: 'muted' },
};

/** Why a rule is paused. */
export const PAUSE_REASONS: Readonly<Record<PauseReason, string>> = {
  'responded-404': 'its URL returned 404 and is considered gone',
  'last-attempt-failed': 'the last attempt to deliver an event failed',
  'by-hand': 'it was paused by hand',
};

export const CHAOS: Readonly<Record<ChaosMode, readonly [label: string, does: string]>> = {
  duplicate: ['Duplicate', 'Sends an event again, seconds later'],
  concurrentDuplicates: ['Concurrent duplicates', 'Sends up to three copies at the same time'],
  reorder: ['Reorder', 'Delays an event, so that later ones overtake it'],
  dropResponse: ['Drop the response', 'Loses the response after the receiver did its work'],
  slowBody: ['Slow body', 'Sends the body in small chunks'],
  wrongSecret: ['Wrong secret', 'Signs with an unknown secret'],
  oldSecret: ['Old secret', 'Signs with the secret from before the last rotation'],
  clockSkew: ['Clock skew', 'Signs with a time that is more than five minutes off'],
  replay: ['Replay', 'Sends the same request again'],
  tamperedBody: ['Tampered body', 'Changes the body after signing'],
};

/** The status or the error of an attempt. */
export function responseText({ response, dropped }: AttemptSummary): string {
  if (!response) return 'in flight';
  if (dropped) return 'lost';
  if (response.kind === 'status') return String(response.status);
  return response.kind === 'timeout' ? 'timed out' : response.code;
}

/** The color of an attempt. */
export function attemptTone(attempt: AttemptSummary): 'good' | 'bad' | 'wait' | 'gone' {
  if (attempt.kind === 'replay') return 'gone';
  if (!attempt.result) return 'wait';
  if (attempt.result.next === 'acknowledged') return 'good';
  return 'bad';
}

const scheduled = <Kind extends Pick<AttemptSummary, 'kind'>>(attempts: readonly Kind[]) =>
  attempts.filter(({ kind }) => kind === 'scheduled');

/** The last attempt of an event, without replays. */
export const lastAttempt = <Kind extends Pick<AttemptSummary, 'kind'>>(
  attempts: readonly Kind[],
): Kind | undefined => scheduled(attempts).at(-1);

/** Why an event is in its state. */
export function stateReason(event: WebhookEventSummary, policy: PolicyView): string {
  const last = lastAttempt(event.attempts);
  switch (event.state) {
    case 'waiting':
      if (last) return `retry: ${failure(last, policy)}`;
      return event.copiedBy === undefined ? 'delayed by chaos' : 'a copy, made by chaos';
    case 'in-flight':
      return 'the receiver is handling it';
    case 'acknowledged':
      return last && last.number > 1 ? `after ${String(last.number)} attempts` : '';
    case 'failed':
      return last ? `${failure(last, policy)}; ${outcome(last)}` : '';
    case 'held':
      return 'the rule is paused; sent when it is resumed';
    case 'dropped':
      return event.droppedBecause === 'action-removed'
        ? 'not sent: the action was removed'
        : 'not sent: the rule was paused';
  }
}

function outcome({ result }: AttemptSummary): string {
  return result?.next === 'paused' && result.reason === 'responded-404'
    ? 'the rule was paused at once'
    : 'it was the last attempt, so the rule was paused';
}

function failure(attempt: AttemptSummary, { acknowledgeWithin }: PolicyView): string {
  const { response, dropped } = attempt;
  if (dropped) return 'the response was lost (chaos)';
  if (response?.kind === 'status') return `the receiver responded ${String(response.status)}`;
  if (response?.kind === 'timeout') return `no response within ${span(acknowledgeWithin)}`;
  return `the connection failed (${response?.code ?? 'unknown'})`;
}

/** The number of the next attempt: `2 of 6`. */
export const nextAttempt = (event: WebhookEventSummary, { maxAttempts }: PolicyView): string =>
  `${String(scheduled(event.attempts).length + 1)} of ${String(maxAttempts)}`;

/** A URL without what all of them share: `127.0.0.1:3000/hook`. */
export const shortUrl = (url: string): string => url.replace(/^http:\/\//, '');

/** The URLs of actions, each once. */
export const urlsOf = (actions: readonly Pick<Action, 'url'>[]): string[] => [
  ...new Set(actions.map(({ url }) => url)),
];

/** A URL that may be short, as on the command line: `3000/hook`, `localhost:3000/hook`. */
export function wholeUrl(given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (/^\d{1,5}(?:\/|$)/.test(given)) return `http://127.0.0.1:${given}`;
  return /^[\w.-]+:\d{1,5}(?:\/|$)|^\[[\da-f:]+\]/i.test(given) ? `http://${given}` : given;
}
