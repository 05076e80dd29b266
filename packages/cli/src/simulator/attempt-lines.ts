import type { AttemptSummary, WebhookEventSummary } from '@call-webhooks/simulator';
import { attemptFailure } from '../http/effects.ts';
import { duration, timeOfDay } from '../terminal/format.ts';
import { paragraph, shortId } from '../terminal/table.ts';
import { type Colors, join, pad, t, text, type Text, widthOf } from '../terminal/text.ts';

const WIDEST_EVENT = 'call:recording-available'.length;
const GAP = '  ';
/** Lines about an attempt begin below its event. */
const INDENT = '16:49:39Z'.length + GAP.length;

/** A URL as commands take it: `3000/hook` for one of this machine. */
export const localUrl = (url: string): string =>
  url.replace(/^http:\/\//, '').replace(/^(?:127\.0\.0\.1|localhost|\[::1\]):/, '');

/** The status or the error of an attempt, and the outcome that the receiver named. */
export function answerText(colors: Colors, { response, outcome }: AttemptSummary): Text {
  if (!response) return colors.dim('…');
  if (response.kind !== 'status')
    return colors.red(response.kind === 'timeout' ? 'timeout' : response.code);
  const { status } = response;
  const paint = status < 300 ? colors.green : status === 404 ? colors.red : colors.yellow;
  return paint(outcome === undefined ? status : `${String(status)} ${outcome}`);
}

/** What an attempt does to its event, and when the next one comes. */
export function resultText(
  colors: Colors,
  { kind, number, result, dropped, startedAt, endedAt = startedAt }: AttemptSummary,
  { state, attempts, nextAttemptAt = NaN }: WebhookEventSummary,
): Text {
  if (kind === 'replay') return colors.dim('a replay, which changes nothing');
  if (dropped) return colors.yellow('response dropped (chaos)');
  if (!result) return colors.dim('in flight');
  if (result.next === 'acknowledged') return colors.green('acknowledged');
  if (result.next === 'paused') {
    const reason = result.reason === 'responded-404' ? '404' : 'the last attempt failed';
    return colors.red(`${reason}: the rule is paused`);
  }
  const next = attempts.find((one) => one.number === number + 1)?.startedAt ?? nextAttemptAt;
  if (Number.isFinite(next)) return colors.yellow(`retry in ${duration(next - endedAt)}`);
  return state === 'dropped'
    ? colors.red('dropped: the rule is paused')
    : colors.yellow('retry later');
}

/**
 * Creates what writes attempts for people. A failure is explained once: until the same receiver fails in
 * another way, or succeeds.
 */
export function attemptWriter(
  columns: number,
): (colors: Colors, event: WebhookEventSummary, attempt: AttemptSummary) => Text[] {
  const explained = new Map<string, string>();
  const explanation = ({ dim }: Colors, attempt: AttemptSummary): Text[] => {
    const { kind, result, url } = attempt;
    const cause = kind === 'replay' ? undefined : attemptFailure(attempt);
    if (result?.next === 'acknowledged') explained.delete(url);
    if (!cause || explained.get(url) === cause.topic) return [];
    explained.set(url, cause.topic);
    return [text(cause.when), t`${dim('To fix it:')} npx call-webhooks explain ${cause.topic}`];
  };
  return (colors, event, attempt) => [
    ...attemptLines(colors, columns, event, attempt),
    ...explanation(colors, attempt).flatMap((line) => paragraph(line, columns, INDENT)),
  ];
}

/** One line, or two where it does not fit. */
function attemptLines(
  colors: Colors,
  columns: number,
  event: WebhookEventSummary,
  attempt: AttemptSummary,
): Text[] {
  const { endedAt, startedAt, tookMs = 0, url } = attempt;
  const head = [
    colors.dim(timeOfDay(endedAt ?? startedAt)),
    pad(event.eventName, WIDEST_EVENT),
    colors.dim(shortId(event.callId)),
    answerText(colors, attempt),
  ];
  const result = resultText(colors, attempt, event);
  const notes = notesOf(event, attempt);
  const whole = join([...head, colors.dim(duration(tookMs)), result, url, ...notes], GAP);
  if (widthOf(whole) <= columns) return [whole];
  const isPlain = attempt.result?.next === 'acknowledged' && notes.length === 0;
  const short = join([...head, localUrl(url)], GAP);
  if (isPlain && widthOf(short) <= columns) return [short];
  const more = join([localUrl(url), result, ...notes], GAP);
  return [join(head, GAP), ...paragraph(more, columns, INDENT)];
}

function notesOf(event: WebhookEventSummary, { number, kind, chaos }: AttemptSummary): string[] {
  const notes = [
    number > 1 || kind === 'replay' ? `attempt ${String(number)}` : '',
    chaos.length > 0 ? `chaos: ${chaos.join(', ')}` : '',
    event.copiedBy === 'resend' ? 'sent again' : '',
  ].filter((note) => note !== '');
  return notes.length > 0 ? [`(${notes.join('; ')})`] : [];
}

/** An event that was not sent. */
export const unsentLine = (
  { red }: Colors,
  { eventName, callId, state, ruleId, url = 'a removed action' }: WebhookEventSummary,
): Text =>
  t`${eventName}  ${shortId(callId)}  ${red(state)} for ${localUrl(url)}: the rule is paused. To resume it: npx call-webhooks rules resume ${ruleId}`;
