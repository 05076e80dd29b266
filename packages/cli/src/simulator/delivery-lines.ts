import type { Ink } from '../terminal/ink.ts';
import { joined, padded, t, type Text } from '../terminal/text.ts';
import { duration, timeOfDay } from '../terminal/time.ts';
import type { Happening } from './attempts.ts';
import type { AttemptSummary, DeliverySummary, Rule } from './views.ts';

const WIDEST_EVENT = 'call:recording-available'.length;

/** What came of an attempt, and what comes next. */
export function verdictText(ink: Ink, attempt: AttemptSummary, delivery: DeliverySummary): Text {
  const { verdict, dropped, startedAt, endedAt } = attempt;
  if (attempt.kind === 'replay') return ink.dim('a replay: the answer changes nothing');
  if (dropped) return ink.yellow('answered, but the answer was dropped (chaos)');
  if (!verdict) return ink.dim('in flight');
  if (verdict.next === 'acknowledged') return ink.green('acknowledged');
  if (verdict.next === 'paused') {
    const why = verdict.because === 'answered-404' ? 'a 404' : 'the last attempt failed';
    return ink.red(`${why}: the rule is paused`);
  }
  const wait = (delivery.nextAttemptAt ?? NaN) - (endedAt ?? startedAt);
  return Number.isFinite(wait)
    ? ink.yellow(`failed, retried in ${duration(wait)}`)
    : ink.yellow('failed, retried later');
}

/** The answer's status or error, in the colour that it deserves. */
export function answerText(ink: Ink, { answer }: AttemptSummary): Text {
  if (!answer) return ink.dim('…');
  if (answer.kind !== 'status')
    return ink.red(answer.kind === 'timeout' ? 'no answer in time' : answer.code);
  const paint = answer.status < 300 ? ink.green : answer.status === 404 ? ink.red : ink.yellow;
  return paint(answer.status);
}

/** One attempt in one line. */
export function attemptLine(ink: Ink, delivery: DeliverySummary, attempt: AttemptSummary): Text {
  const more = [
    attempt.number > 1 || attempt.kind === 'replay' ? `attempt ${attempt.number}` : '',
    ...(attempt.chaos.length > 0 ? [`chaos: ${attempt.chaos.join(', ')}`] : []),
    delivery.copiedBy === 'resend' ? 'sent again' : '',
  ].filter((part) => part !== '');
  return joined(
    [
      ink.dim(timeOfDay(attempt.endedAt ?? attempt.startedAt)),
      padded(delivery.eventName, WIDEST_EVENT),
      ink.dim(delivery.callId),
      padded(answerText(ink, attempt), 3),
      ink.dim(duration(attempt.tookMs ?? 0)),
      verdictText(ink, attempt, delivery),
      ...(more.length > 0 ? [ink.dim(`(${more.join('; ')})`)] : []),
    ],
    '  ',
  );
}

/** One line for whatever happened. */
export function happeningLine(ink: Ink, happening: Happening): Text {
  if (happening.type === 'attempt') return attemptLine(ink, happening.delivery, happening.attempt);
  return ruleLine(ink, happening.rule);
}

function ruleLine(ink: Ink, { _id, name, state, pausedBecause }: Rule): Text {
  if (state === 'active') return ink.green(t`The rule "${name}" (${_id}) goes on.`);
  const why =
    pausedBecause === 'answered-404'
      ? 'the receiver answered 404'
      : pausedBecause === 'last-attempt-failed'
        ? 'the last attempt failed'
        : 'by hand';
  return ink.red(
    t`The rule "${name}" is paused: ${why}. Resume it: call-webhooks rules resume ${_id}`,
  );
}

/** What a happening is as JSON. */
export function happeningRecord(happening: Happening): object {
  if (happening.type === 'rule') return happening;
  const { attempts: _all, ...delivery } = happening.delivery;
  return { type: 'attempt', delivery, attempt: happening.attempt };
}
