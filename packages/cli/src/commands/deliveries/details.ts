import type { DeliveryView } from '@call-webhooks/simulator';
import { causeOf } from '../../http/failures.ts';
import { answerText, resultText } from '../../simulator/attempt-lines.ts';
import type { Colors } from '../../terminal/colors.ts';
import { bodyLines, dateTime, duration } from '../../terminal/format.ts';
import { pairs } from '../../terminal/table.ts';
import { join, t, type Printable, type Text } from '../../terminal/text.ts';

type AttemptView = DeliveryView['attempts'][number];

/** Everything about one delivery, in lines. */
export function deliveryDetails(colors: Colors, delivery: DeliveryView, columns: number): Text[] {
  const { _id, eventName, state, ruleId, ruleName, actionId, callId, copyOf, copiedBy } = delivery;
  const names: [string, Printable][] = [
    ['delivery', _id],
    ['call', callId],
    ['rule', ruleName === undefined ? ruleId : `${ruleId} ${ruleName}`],
    ['action', actionId],
    ...(delivery.url === undefined ? [] : [['receiver', delivery.url] satisfies [string, string]]),
    ...(copyOf === undefined
      ? []
      : [['copy of', `${copyOf} (${copiedBy ?? ''})`] satisfies [string, string]]),
  ];
  return [
    t`${colors.bold(eventName)}  ${state}`,
    ...pairs(colors, names, columns),
    ...bodyLines(delivery.body).map((line) => t`  ${line}`),
    ...delivery.attempts.flatMap((attempt) => [t``, ...attemptDetails(colors, delivery, attempt)]),
  ];
}

function attemptDetails(colors: Colors, delivery: DeliveryView, attempt: AttemptView): Text[] {
  const { bold, cyan, dim, yellow } = colors;
  const { request, response = attempt.droppedResponse, chaos } = attempt;
  const parts = [
    bold(`attempt ${String(attempt.number)}`),
    dim(dateTime(new Date(attempt.startedAt))),
    answerText(colors, attempt),
    dim(duration(attempt.tookMs ?? 0)),
    resultText(colors, attempt, delivery),
  ];
  const cause = causeOf(attempt);
  return [
    join(parts, '  '),
    ...(cause
      ? [t`  ${cause.when}`, t`  ${dim('To fix it:')} call-webhooks explain ${cause.topic}`]
      : []),
    ...(chaos.length > 0 ? [t`  ${yellow(`chaos: ${chaos.join(', ')}`)}`] : []),
    t`  ${cyan('→')} POST ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => t`    ${dim(`${name}:`)} ${value}`),
    ...(request.body === delivery.body
      ? []
      : bodyLines(request.body).map((line) => t`    ${line}`)),
    ...(response?.kind === 'status'
      ? [
          t`  ${cyan('←')} ${response.status}`,
          ...bodyLines(response.body, 20).map((line) => t`    ${line}`),
        ]
      : []),
  ];
}
