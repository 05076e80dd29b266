import type { Attempt, WebhookEvent } from '@call-webhooks/simulator';
import type { Control } from './control.ts';

/** One request to the receiver, with its result. */
export interface Row {
  /** Milliseconds of the simulator's clock. */
  at: number;
  /** The event, and what was done to the request. */
  what: string;
  /** 0 without a response. */
  status: number;
  /** Such as `200 handled`, followed by `lost` if the response did not reach the service. */
  answer: string;
  /** What the service does next. */
  then: string;
}

/** Returns the requests that were completed since the last call. */
export function newRows(control: Control): () => Promise<Row[]> {
  const seen = new Set<string>();
  return async () => {
    const rows: Row[] = [];
    for (const { _id, attempts } of await control.events()) {
      const ofOne = (attempt: Attempt) => `${_id}/${String(attempt.number)}/${attempt.kind}`;
      if (attempts.every((attempt) => !attempt.response || seen.has(ofOne(attempt)))) continue;
      const event = await control.event(_id);
      for (const attempt of event.attempts) {
        if (!attempt.response || seen.has(ofOne(attempt))) continue;
        seen.add(ofOne(attempt));
        rows.push(rowOf(event, attempt));
      }
    }
    return rows.sort((one, other) => one.at - other.at);
  };
}

function rowOf(event: WebhookEvent, attempt: Attempt): Row {
  const { number, kind, chaos, startedAt, response, droppedResponse } = attempt;
  const { eventName } = JSON.parse(event.body) as { eventName?: string };
  const done = kind === 'replay' ? [] : chaos.filter((mode) => mode !== 'replay');
  const notes = [
    ...(number > 1 ? [`attempt ${String(number)}`] : []),
    ...(kind === 'replay' ? ['replayed'] : []),
    ...(event.copiedBy ? [words(event.copiedBy)] : []),
    ...done.map(words),
  ];
  const status = response?.kind === 'status' ? response.status : 0;
  return {
    at: startedAt,
    what: [eventName ?? 'custom payload', ...notes].join(' · '),
    status,
    answer: `${textOf(droppedResponse ?? response)}${droppedResponse ? ', lost' : ''}`,
    then: kind === 'replay' ? '' : whatNext(event, attempt),
  };
}

/** `wrongSecret` as words. */
const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function textOf(answer: Attempt['response']): string {
  if (answer?.kind !== 'status')
    return answer?.kind === 'connection-error' ? answer.code : 'time-out';
  const outcome = /"outcome":"([\w-]+)"/.exec(answer.body)?.[1] ?? '';
  return `${String(answer.status)} ${outcome}`;
}

function whatNext({ nextAttemptAt }: WebhookEvent, { result, endedAt = 0 }: Attempt): string {
  if (result?.next === 'acknowledged') return 'acknowledged';
  if (result?.next === 'paused') return 'the rule is paused';
  return nextAttemptAt === undefined
    ? 'again later'
    : `retry in ${minutes(nextAttemptAt - endedAt)}`;
}

/** @param ms milliseconds; `4:07` is four minutes and seven seconds */
export function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return `${String(Math.floor(seconds / 60))}:${String(seconds % 60).padStart(2, '0')}`;
}
