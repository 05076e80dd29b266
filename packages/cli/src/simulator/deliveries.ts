import type { AttemptSummary, Delivery, DeliverySummary, Rule } from '@call-webhooks/simulator';
import { badInput } from '../errors.ts';
import type { Colors } from '../terminal/colors.ts';
import { duration, shortId, timeOfDay } from '../terminal/format.ts';
import { join, pad, t, type Text } from '../terminal/text.ts';
import type { Connection } from './connection.ts';
import type { Update } from './updates.ts';

const WIDEST_EVENT = 'call:recording-available'.length;

/** Finds a delivery by its id or the beginning of it. @throws CliError 2 unless there is one */
export async function findDelivery(connection: Connection, id: string): Promise<Delivery> {
  const all = await connection.get<DeliverySummary[]>('/deliveries', { limit: 1_000_000 });
  const matching = all.filter(({ _id }) => _id.startsWith(id));
  const [first] = matching;
  if (!first || id === '')
    throw badInput(`There is no delivery ${id}.`, 'List them: call-webhooks deliveries list');
  if (matching.length > 1 && first._id !== id)
    throw badInput(
      `${String(matching.length)} deliveries start with ${id}.`,
      'Give more characters of the id.',
    );
  return connection.get<Delivery>(`/deliveries/${first._id}`);
}

/** Whether nothing more will be sent. */
export const isFinished = ({ state }: Pick<DeliverySummary, 'state'>): boolean =>
  state === 'acknowledged' || state === 'failed' || state === 'dropped';

/** Whether there is a response, or there will be none: the rule is paused. */
export const wasAttempted = (delivery: DeliverySummary): boolean =>
  isFinished(delivery) ||
  delivery.state === 'held' ||
  delivery.attempts.some(({ response }) => response !== undefined);

/** The result of an attempt, and what happens next. */
export function resultText(
  colors: Colors,
  attempt: AttemptSummary,
  delivery: DeliverySummary,
): Text {
  const { result, dropped, startedAt, endedAt } = attempt;
  if (attempt.kind === 'replay') return colors.dim('a replay, which changes nothing');
  if (dropped) return colors.yellow('response dropped (chaos)');
  if (!result) return colors.dim('in flight');
  if (result.next === 'acknowledged') return colors.green('acknowledged');
  if (result.next === 'paused') {
    const reason = result.reason === 'answered-404' ? '404' : 'the last attempt failed';
    return colors.red(`${reason}: the rule is paused`);
  }
  const wait = (delivery.nextAttemptAt ?? NaN) - (endedAt ?? startedAt);
  return colors.yellow(Number.isFinite(wait) ? `retry in ${duration(wait)}` : 'retry later');
}

/** The status or the error of an attempt. */
export function responseText(colors: Colors, { response }: AttemptSummary): Text {
  if (!response) return colors.dim('…');
  if (response.kind !== 'status')
    return colors.red(response.kind === 'timeout' ? 'timeout' : response.code);
  const paint =
    response.status < 300 ? colors.green : response.status === 404 ? colors.red : colors.yellow;
  return paint(response.status);
}

/** One attempt in one line. */
export function attemptLine(
  colors: Colors,
  delivery: DeliverySummary,
  attempt: AttemptSummary,
): Text {
  const notes = [
    attempt.number > 1 || attempt.kind === 'replay' ? `attempt ${attempt.number}` : '',
    ...(attempt.chaos.length > 0 ? [`chaos: ${attempt.chaos.join(', ')}`] : []),
    delivery.copiedBy === 'resend' ? 'sent again' : '',
  ].filter((part) => part !== '');
  return join(
    [
      colors.dim(timeOfDay(attempt.endedAt ?? attempt.startedAt)),
      pad(delivery.eventName, WIDEST_EVENT),
      colors.dim(shortId(delivery.callId)),
      pad(responseText(colors, attempt), 3),
      colors.dim(duration(attempt.tookMs ?? 0)),
      resultText(colors, attempt, delivery),
      ...(notes.length > 0 ? [colors.dim(`(${notes.join('; ')})`)] : []),
    ],
    '  ',
  );
}

/** One update in one line. */
export function updateLine(colors: Colors, update: Update): Text {
  if (update.type === 'attempt') return attemptLine(colors, update.delivery, update.attempt);
  return ruleLine(colors, update.rule);
}

function ruleLine(colors: Colors, { _id, name, state, pauseReason }: Rule): Text {
  if (state === 'active') return colors.green(t`The rule "${name}" (${_id}) was resumed.`);
  const reason =
    pauseReason === 'answered-404'
      ? 'the receiver returned 404'
      : pauseReason === 'last-attempt-failed'
        ? 'the last attempt failed'
        : 'by hand';
  return colors.red(
    t`The rule "${name}" was paused: ${reason}. To resume it: call-webhooks rules resume ${_id}`,
  );
}

/** An update as JSON. */
export function updateRecord(update: Update): object {
  if (update.type === 'rule') return update;
  const { attempts: _all, ...delivery } = update.delivery;
  return { type: 'attempt', delivery, attempt: update.attempt };
}
