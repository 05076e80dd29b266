import type { AttemptSummary, DeliverySummary } from '@call-webhooks/simulator';
import { causeOf } from '../http/effects.ts';
import { duration, timeOfDay } from '../terminal/format.ts';
import { cut, paragraph, shortId } from '../terminal/table.ts';
import {
  type Colors,
  join,
  pad,
  type Printable,
  t,
  text,
  type Text,
  widthOf,
} from '../terminal/text.ts';

const WIDEST_EVENT = 'call:recording-available'.length;
const GAP = '  ';
/** Lines about an attempt begin below its event. */
const INDENT = '16:49:39Z'.length + GAP.length;
/** A receiver is not cut to less. */
const MIN_URL = 12;

/** A URL as it is given on the command line: `127.0.0.1:3000/hook`. */
export const shortUrl = (url: string): string => url.replace(/^http:\/\//, '');

/** The same in a table: commands take `3000/hook` for a URL of this machine. */
export const localUrl = (url: string): string =>
  shortUrl(url).replace(/^(?:127\.0\.0\.1|localhost|\[::1\]):/, '');

/** The status or the error of an attempt, and the outcome that the receiver named. */
export function answerText(colors: Colors, { response, outcome }: AttemptSummary): Text {
  if (!response) return colors.dim('…');
  if (response.kind !== 'status')
    return colors.red(response.kind === 'timeout' ? 'timeout' : response.code);
  const { status } = response;
  const paint = status < 300 ? colors.green : status === 404 ? colors.red : colors.yellow;
  return paint(outcome === undefined ? status : `${String(status)} ${outcome}`);
}

/** What an attempt does to its delivery, and when the next one comes. */
export function resultText(
  colors: Colors,
  { kind, result, dropped, startedAt, endedAt }: AttemptSummary,
  { nextAttemptAt = NaN }: Pick<DeliverySummary, 'nextAttemptAt'>,
): Text {
  if (kind === 'replay') return colors.dim('a replay, which changes nothing');
  if (dropped) return colors.yellow('response dropped (chaos)');
  if (!result) return colors.dim('in flight');
  if (result.next === 'acknowledged') return colors.green('acknowledged');
  if (result.next === 'paused') {
    const reason = result.reason === 'responded-404' ? '404' : 'the last attempt failed';
    return colors.red(`${reason}: the rule is paused`);
  }
  const wait = nextAttemptAt - (endedAt ?? startedAt);
  return colors.yellow(Number.isFinite(wait) ? `retry in ${duration(wait)}` : 'retry later');
}

/** An attempt: what was sent where, and what came of it. One line, or two where it does not fit. */
export function attemptLines(
  colors: Colors,
  columns: number,
  delivery: DeliverySummary,
  attempt: AttemptSummary,
): Text[] {
  const head = [
    colors.dim(timeOfDay(attempt.endedAt ?? attempt.startedAt)),
    pad(delivery.eventName, WIDEST_EVENT),
    colors.dim(shortId(delivery.callId)),
    answerText(colors, attempt),
  ];
  const result = resultText(colors, attempt, delivery);
  const took = colors.dim(duration(attempt.tookMs ?? 0));
  const notes = notesOf(delivery, attempt).map(colors.dim);
  const whole = join([...head, took, result, attempt.url, ...notes], GAP);
  if (widthOf(whole) <= columns) return [whole];
  const url = shortUrl(attempt.url);
  const first = join(head, GAP);
  const room = columns - widthOf(first) - GAP.length;
  const isPlain = attempt.result?.next === 'acknowledged' && notes.length === 0;
  const local = localUrl(attempt.url);
  if (isPlain && room >= Math.min(MIN_URL, local.length))
    return [join([first, cut(local, room, 'middle')], GAP)];
  const more = join([result, ...notes], GAP);
  const left = columns - INDENT - widthOf(more) - GAP.length;
  const second = join([cut(url, Math.max(MIN_URL, left), 'middle'), more], GAP);
  return [first, ...paragraph(second, columns, INDENT)];
}

function notesOf(delivery: DeliverySummary, { number, kind, chaos }: AttemptSummary): string[] {
  const notes = [
    number > 1 || kind === 'replay' ? `attempt ${String(number)}` : '',
    chaos.length > 0 ? `chaos: ${chaos.join(', ')}` : '',
    delivery.copiedBy === 'resend' ? 'sent again' : '',
  ].filter((note) => note !== '');
  return notes.length > 0 ? [`(${notes.join('; ')})`] : [];
}

/** A delivery that was not sent. */
export const unsentLine = (
  { red }: Colors,
  { eventName, callId, state, ruleId, url = 'a removed action' }: DeliverySummary,
): Text =>
  t`${eventName}  ${shortId(callId)}  ${red(state)} for ${shortUrl(url)}: the rule is paused. To resume it: call-webhooks rules resume ${ruleId}`;

/**
 * Explains failures, each once: until the same receiver fails in another way, or succeeds.
 * @returns lines to print below the attempt
 */
export function createExplainer(): (
  colors: Colors,
  columns: number,
  attempt: AttemptSummary,
) => Text[] {
  const explained = new Map<string, string>();
  return (colors, columns, attempt) => {
    const cause = causeOf(attempt);
    if (!cause || attempt.kind === 'replay') {
      if (attempt.result?.next === 'acknowledged') explained.delete(attempt.url);
      return [];
    }
    if (explained.get(attempt.url) === cause.topic) return [];
    explained.set(attempt.url, cause.topic);
    const line = (content: Printable) => paragraph(text(content), columns, INDENT);
    return [
      ...line(cause.when),
      ...line(t`${colors.dim('To fix it:')} call-webhooks explain ${cause.topic}`),
    ];
  };
}
