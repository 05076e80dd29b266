import type { Ink } from '../terminal/ink.ts';
import { bodyLines } from '../terminal/body.ts';
import { joined, t, type Text } from '../terminal/text.ts';
import { duration, timeOfDay } from '../terminal/time.ts';
import { answerText, verdictText } from './delivery-lines.ts';
import type { Attempt, Delivery, DeliverySummary } from './views.ts';

/** A delivery up close. */
export function deliveryDetails(ink: Ink, delivery: Delivery): Text[] {
  const { _id, eventName, state, ruleId, actionId, callId, copyOf, copiedBy } = delivery;
  return [
    t`${ink.bold(eventName)}  ${state}`,
    t`${ink.dim('delivery')} ${_id}  ${ink.dim('call')} ${callId}`,
    t`${ink.dim('rule')} ${ruleId}  ${ink.dim('action')} ${actionId}`,
    ...(copyOf === undefined ? [] : [t`${ink.dim('copy of')} ${copyOf} (${copiedBy ?? ''})`]),
    ...bodyLines(delivery.body).map((line) => t`  ${line}`),
    ...delivery.attempts
      .flatMap((attempt) => ['', ...attemptDetails(ink, delivery, attempt)])
      .map((line) => t`${line}`),
  ];
}

function attemptDetails(ink: Ink, delivery: Delivery, attempt: Attempt): Text[] {
  const summary = attempt as unknown as DeliverySummary['attempts'][number];
  const told = { ...summary, dropped: attempt.droppedAnswer !== undefined };
  const { request, answer = attempt.droppedAnswer, chaos } = attempt;
  const summarised = { ...delivery, attempts: [] };
  const sameBody = request.body === delivery.body;
  return [
    joined(
      [
        ink.bold(`attempt ${attempt.number}`),
        ink.dim(timeOfDay(attempt.startedAt)),
        answerText(ink, told),
        ink.dim(duration(attempt.tookMs ?? 0)),
        verdictText(ink, told, summarised),
      ],
      '  ',
    ),
    ...(chaos.length > 0 ? [t`  ${ink.yellow(`chaos: ${chaos.join(', ')}`)}`] : []),
    t`  ${ink.cyan('→')} POST ${request.url}`,
    ...Object.entries(request.headers).map(
      ([name, value]) => t`    ${ink.dim(`${name}:`)} ${value}`,
    ),
    ...(sameBody ? [] : bodyLines(request.body).map((line) => t`    ${line}`)),
    ...(answer?.kind === 'status'
      ? [
          t`  ${ink.cyan('←')} ${answer.status}`,
          ...bodyLines(answer.body, 20).map((line) => t`    ${line}`),
        ]
      : []),
  ];
}
