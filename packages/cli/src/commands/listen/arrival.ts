import { isUtf8 } from 'node:buffer';
import type { Colors } from '../../terminal/colors.ts';
import { bodyLines, duration, timeOfDay } from '../../terminal/format.ts';
import { shortId } from '../../terminal/table.ts';
import { join, t, type Text } from '../../terminal/text.ts';

/** One request to `listen`, and its result. */
export interface Arrival {
  readonly time: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** A code of the outcome table, or what `listen` did. */
  readonly outcome: string;
  readonly verified: boolean;
  /** Why it was refused. */
  readonly problem?: string | undefined;
  readonly webhookId?: string | undefined;
  readonly eventName?: string | undefined;
  readonly callId?: string | undefined;
  /** The response of the server behind. */
  readonly forwarded?: Forwarded | undefined;
  readonly body: Uint8Array;
}

/** A forwarded request. */
export interface Forwarded {
  readonly url: string;
  /** The status, or the error. */
  readonly response: string;
  readonly ms: number;
  /** Set when the response was not passed on. */
  readonly warning?: string | undefined;
}

/** The event name and the call id of a body, if it has them. */
export function namesOf(body: Uint8Array): Pick<Arrival, 'eventName' | 'callId'> {
  try {
    const { eventName, callId } = JSON.parse(Buffer.from(body).toString('utf8')) as Record<
      string,
      unknown
    >;
    return {
      eventName: typeof eventName === 'string' ? eventName : undefined,
      callId: typeof callId === 'string' ? callId : undefined,
    };
  } catch {
    return {};
  }
}

/** An arrival as JSON. The body is parsed if it is JSON; otherwise it is text, or base64. */
export function arrivalRecord({ body, ...arrival }: Arrival): object {
  const text = isUtf8(body) ? Buffer.from(body).toString('utf8') : undefined;
  if (text === undefined) return { ...arrival, bodyBase64: Buffer.from(body).toString('base64') };
  try {
    return { ...arrival, body: JSON.parse(text) as unknown };
  } catch {
    return { ...arrival, body: text };
  }
}

/** An arrival for people. */
export function arrivalLines(colors: Colors, arrival: Arrival, withBody: boolean): Text[] {
  const { bold, cyan, dim, green, red, yellow } = colors;
  const { status, outcome, verified, problem, forwarded } = arrival;
  const paint = status < 300 ? green : status < 500 ? yellow : red;
  const head = [
    dim(timeOfDay(Date.parse(arrival.time))),
    bold(arrival.eventName ?? `${arrival.method} ${arrival.path}`),
    dim(shortId(arrival.callId ?? '')),
    verified ? green('verified') : red('not verified'),
    paint(status),
    outcome,
  ].filter((part) => typeof part === 'string' || part.plain !== '');
  return [
    join(head, '  '),
    ...(problem === undefined ? [] : [t`  ${yellow(problem)}`]),
    ...(forwarded
      ? [t`  ${cyan('→')} ${forwarded.url}  ${forwarded.response}  ${dim(duration(forwarded.ms))}`]
      : []),
    ...(withBody ? bodyLines(arrival.body, 40).map((line) => t`  ${dim(line)}`) : []),
  ];
}
