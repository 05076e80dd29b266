import { bodyLines } from '../terminal/body.ts';
import type { Ink } from '../terminal/ink.ts';
import { joined, t, type Text } from '../terminal/text.ts';
import { duration, timeOfDay } from '../terminal/time.ts';
import type { Arrival } from './arrival.ts';

/** An arrival as people read it. */
export function arrivalLines(ink: Ink, arrival: Arrival, withBody: boolean): Text[] {
  const { status, outcome, verified, problem, forwarded } = arrival;
  const paint = status < 300 ? ink.green : status < 500 ? ink.yellow : ink.red;
  const head = joined(
    [
      ink.dim(timeOfDay(Date.parse(arrival.time))),
      ink.bold(arrival.eventName ?? `${arrival.method} ${arrival.path}`),
      ink.dim(arrival.callId ?? ''),
      verified ? ink.green('verified') : ink.red('not verified'),
      paint(status),
      outcome,
    ].filter((part) => typeof part === 'string' || part.plain !== ''),
    '  ',
  );
  return [
    head,
    ...(problem === undefined ? [] : [t`  ${ink.yellow(problem)}`]),
    ...(forwarded
      ? [
          t`  ${ink.cyan('→')} ${forwarded.url}  ${forwarded.answer}  ${ink.dim(duration(forwarded.ms))}`,
        ]
      : []),
    ...(withBody ? bodyLines(arrival.body, 40).map((line) => t`  ${ink.dim(line)}`) : []),
  ];
}
