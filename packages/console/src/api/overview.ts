import type { Overview, ProcessSummary, Session } from '../api-types.ts';
import { OUTCOMES, type OutcomeCode } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { invalid, parametersOf } from '../http/query.ts';
import { CountSeries, DAY, HOUR } from '../stats/series.ts';
import type { SlotContent } from '../stats/slot-content.ts';
import type { RouteContext } from './context.ts';

const OUTCOME_ROWS = Object.fromEntries(
  Object.entries(OUTCOMES).map(([code, row]) => [
    code,
    { ...row, docs: docsUrl(`outcomes.md#${code}`) },
  ]),
) as Record<OutcomeCode, Session['outcomes'][OutcomeCode]>;

/** The outcome table as it holds here: no redrive is retried, and who has dead letters needs no advice. */
function outcomeRows(hasDeadLetters: boolean): Session['outcomes'] {
  const { 'handler-failed': failed, 'invalid-payload': invalidPayload } = OUTCOME_ROWS;
  const when = 'Your handler threw an error.';
  if (!hasDeadLetters) return { ...OUTCOME_ROWS, 'handler-failed': { ...failed, when } };
  return {
    ...OUTCOME_ROWS,
    'handler-failed': { ...failed, when, fix: 'Read the error in the log line.' },
    'invalid-payload': { ...invalidPayload, fix: 'Fix the schema or the custom payload.' },
  };
}

/** A process that has written nothing for so long is gone; milliseconds. */
const GONE_MS = 180_000;

export function session({
  settings,
  operator,
  tokens,
  letters,
  reconciles,
}: RouteContext): Session {
  const { readOnly } = settings;
  return {
    name: operator.name,
    canWrite: operator.canWrite && !readOnly,
    readOnly,
    csrfToken: tokens.issue(operator.name),
    deadLetters: letters?.kind ?? null,
    reconcile: reconciles !== undefined,
    outcomes: outcomeRows(letters !== undefined),
    fieldNamesDocs: docsUrl('field-names.md'),
  };
}

export async function overview({ settings, request, health }: RouteContext): Promise<Overview> {
  const { process: only } = parametersOf(request.query, ['process']);
  const { stats } = settings;
  const [report, view] = await Promise.all([health.report(), stats.view()]);
  const now = stats.now();
  const { contents, scope, error } = view;
  const [own, ...others] = contents;
  // A slot that this process has lost still has its name.
  const isAlive = ({ process, seenAt }: SlotContent) =>
    process.id !== stats.process.id && seenAt > now - GONE_MS;
  const alive = own ? [own, ...others.filter(isAlive)] : [];
  const shown = only === undefined ? contents : alive.filter(({ process }) => process.id === only);
  if (shown.length === 0) throw invalid('no such process writes statistics');
  const withPast = only === undefined;
  const hour = new CountSeries(HOUR);
  const day = new CountSeries(DAY);
  for (const content of shown) {
    hour.merge(content.hour.own, now);
    day.merge(content.day.own, now);
    if (withPast) hour.merge(content.hour.before, now);
    if (withPast) day.merge(content.day.before, now);
  }
  const running = alive.filter((content) => shown.includes(content));
  return {
    now,
    scope,
    ...(error !== undefined && { sharedError: error }),
    process: stats.process.id,
    processes: alive.map((content) => processSummary(content, now)),
    health: report,
    secrets: stats.collector.secrets.list(),
    inFlight: {
      deliveries: sum(running.map(({ inFlight }) => inFlight.deliveries)),
      handlers: sum(running.map(({ inFlight }) => inFlight.handlers)),
    },
    perMinute: hour.perMinute(now),
    hour: hour.series(now),
    day: day.series(now),
  };
}

function processSummary(
  { process, seenAt, inFlight, hour }: SlotContent,
  now: number,
): ProcessSummary {
  const { own } = hour;
  const { id, host, pid, startedAt } = process;
  const perMinute = own.perMinute(now);
  return {
    id,
    host,
    pid,
    startedAt,
    seenAt,
    perMinute,
    inFlight,
    summary: own.series(now).summary,
  };
}

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
