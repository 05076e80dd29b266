import type { Attempt, Delivery, DeliverySummary } from '@call-webhooks/simulator';
import { responseText, resultText } from '../../simulator/deliveries.ts';
import type { Colors } from '../../terminal/colors.ts';
import { bodyLines, duration, timeOfDay } from '../../terminal/format.ts';
import { join, t, type Text } from '../../terminal/text.ts';

/** Everything about one delivery, in lines. */
export function deliveryDetails(colors: Colors, delivery: Delivery): Text[] {
  const { _id, eventName, state, ruleId, actionId, callId, copyOf, copiedBy } = delivery;
  const { bold, dim } = colors;
  return [
    t`${bold(eventName)}  ${state}`,
    t`${dim('delivery')} ${_id}`,
    t`${dim('call')}     ${callId}`,
    t`${dim('rule')}     ${ruleId}`,
    t`${dim('action')}   ${actionId}`,
    ...(copyOf === undefined ? [] : [t`${dim('copy of')}  ${copyOf} (${copiedBy ?? ''})`]),
    ...bodyLines(delivery.body).map((line) => t`  ${line}`),
    ...delivery.attempts
      .flatMap((attempt) => ['', ...attemptDetails(colors, delivery, attempt)])
      .map((line) => t`${line}`),
  ];
}

function attemptDetails(colors: Colors, delivery: Delivery, attempt: Attempt): Text[] {
  const { bold, cyan, dim, yellow } = colors;
  const { request, response = attempt.droppedResponse, chaos } = attempt;
  const summary = {
    ...(attempt as unknown as DeliverySummary['attempts'][number]),
    dropped: attempt.droppedResponse !== undefined,
  };
  const parts = [
    bold(`attempt ${attempt.number}`),
    dim(timeOfDay(attempt.startedAt)),
    responseText(colors, summary),
    dim(duration(attempt.tookMs ?? 0)),
    resultText(colors, summary, { ...delivery, attempts: [] }),
  ];
  return [
    join(parts, '  '),
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
