import type { OutcomeRow } from '@call-webhooks/core/stores';
import { SETTLE_FOR_MS } from '../cursor.ts';
import { isCovered, type Span } from './covered.ts';
import { PERIOD_MS, type Arrivals, type DueCalls } from './due-calls.ts';
import {
  eventId,
  exactTimes,
  groupedBy,
  OTHERS,
  readOf,
  sumOf,
  type CommonError,
  type Evidence,
  type SeenEvent,
  type Window,
} from './evidence.ts';
import {
  failedEvents,
  mostCommonError,
  wasNotRetried,
  wasRetried,
  type FailedEvent,
} from './failed-events.ts';
import type { Finding } from './findings.ts';
import {
  isReconcilable,
  isRunByReconcile,
  reconcilableSince,
  type ReconcileLimits,
} from './reconcile-advice.ts';
import type { Histories } from './silent.ts';

/**
 * An event that had stopped arriving, and arrives again. What should have been sent in between was probably not sent,
 * and will not be: somebody has to run reconcile.
 */
export interface EndedSilence extends Span {
  readonly tenant: string;
  readonly eventName: string;
  /** Events that were not sent again, or calls that lack the event: of all its pauses. */
  readonly count: number;
  /** What most of these events have failed with. */
  readonly most?: CommonError | undefined;
  /** The other event by which the calls are known. */
  readonly other?: string | undefined;
}

type Gathered = Omit<Evidence, 'read'>;

/** Older ones of an event say the same. */
const MAX_OF_EVENT = 3;
/** Of more events, single rows are not read. */
const MAX_EVENTS = 10;

/** A silence as the counters show it: when it began and ended is known to the period. */
interface Candidate extends Omit<EndedSilence, keyof Span | 'most'> {
  /** The failed deliveries of the events that were not sent again. */
  readonly failures: readonly OutcomeRow[];
  /** When the event arrived last before, and first after. */
  readonly before: Window;
  readonly after: Window;
  /** Nothing of the event may have arrived in this time. */
  readonly silent?: Window;
}

type Found = Omit<Candidate, 'before' | 'after' | 'silent'> & Span;

/** The silences of the last 24 hours that have ended, as far as no reconcile has covered what it can still run of them. */
export function endedSilences(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  past: Histories,
): readonly EndedSilence[] {
  const { read, covered } = evidence;
  const found = candidates(evidence, seen, past).flatMap((one): readonly Found[] => {
    const { before, after, silent, ...of } = one;
    const isOwn = (row: OutcomeRow) => isDeliveryOf(row, one);
    if (silent) {
      const { since, rows } = readOf(read, silent);
      if (since > silent.since || rows.some(isOwn)) return [];
    }
    const since = exactTimes(read, before, isOwn).last;
    const until = Math.max(since, exactTimes(read, after, isOwn).first);
    const rest = { since: Math.max(since, reconcilableSince(evidence)), until };
    if (isCovered(covered.get(of.tenant), of.eventName, rest)) return [];
    return [{ ...of, since, until }];
  });
  // Several pauses of one rule are one thing to do.
  return [...groupedBy(found, eventId).values()].map((all) => {
    const [{ failures: _, ...newest }] = all as [Found];
    const since = Math.min(...all.map((one) => one.since));
    const until = Math.max(...all.map((one) => one.until));
    // Failed events and calls that lack one cannot be added up: what the newest pause is known by is counted.
    const alike = all.filter(({ other }) => other === newest.other);
    const count = sumOf(alike.map((one) => one.count));
    const most = mostCommonError(alike.flatMap((one) => one.failures));
    return { ...newest, count, ...(most && { most }), since, until };
  });
}

/** The rows that tell when these silences began and ended. */
export const windowsOfEnded = (
  evidence: Gathered,
  seen: ReadonlyMap<string, SeenEvent>,
  past: Histories,
): readonly Window[] =>
  candidates(evidence, seen, past).flatMap(({ before, after, silent }) => [
    ...[before, after].filter(({ since, until }) => until > since),
    ...(silent ? [silent] : []),
  ]);

const isDeliveryOf = (
  { source, tenant = '', eventName = '' }: OutcomeRow,
  of: Pick<SeenEvent, 'tenant' | 'eventName'>,
): boolean => source === 'webhook' && tenant === of.tenant && eventName === of.eventName;

function candidates(
  evidence: Gathered,
  seen: ReadonlyMap<string, SeenEvent>,
  { due, periods }: Histories,
): readonly Candidate[] {
  const { now, failures, thresholds } = evidence;
  const failed = groupedBy(failedEvents(failures, thresholds), eventId);
  const found: Candidate[] = [];
  for (const event of seen.values()) {
    if (event.tenant === OTHERS || event.eventName === OTHERS) continue;
    const id = eventId(event);
    const own = [
      ...afterFailures(evidence, event, failed.get(id) ?? [], periods.get(event.tenant) ?? []),
      ...amongOthers(evidence, event, due.get(id) ?? []),
    ];
    found.push(
      ...own
        .filter(({ after }) => now - after.since <= thresholds.missedFor)
        .sort((one, other) => other.before.since - one.before.since)
        .slice(0, MAX_OF_EVENT),
    );
  }
  return found.slice(0, MAX_OF_EVENT * MAX_EVENTS);
}

/** Events failed, the service did not send them again, and after a pause others arrived. */
function afterFailures(
  evidence: Gathered,
  event: SeenEvent,
  failed: readonly FailedEvent[],
  periods: readonly Arrivals[],
): readonly Candidate[] {
  const { failures, thresholds } = evidence;
  const { tenant, eventName, arrivedAt } = event;
  const { overdueAfter } = thresholds;
  const rows = failures.filter((row) => isDeliveryOf(row, event));
  const given = failed
    .filter((one) => one.key !== undefined && wasNotRetried(one, evidence, -Infinity))
    .filter((one) => !isForgotten(one, evidence) || wasRetried(one, thresholds))
    .sort((one, other) => one.lastAt - other.lastAt);
  return given.flatMap(({ lastAt }, index): readonly Candidate[] => {
    const next = rows.find(({ at }) => at > lastAt)?.at ?? Infinity;
    if (next - lastAt <= overdueAfter || arrivedAt - lastAt <= overdueAfter) return [];
    const period = periods.find(
      ({ at, counts }) => at + PERIOD_MS > lastAt + overdueAfter && counts.has(eventName),
    );
    const known = Math.min(next, arrivedAt);
    const after =
      period && period.at < known
        ? {
            since: Math.max(period.at, lastAt + overdueAfter),
            until: Math.min(known, period.at + PERIOD_MS - 1),
          }
        : { since: known, until: known };
    const isPart = (one: FailedEvent) => lastAt - one.lastAt <= overdueAfter;
    const lost = given.slice(0, index + 1).filter(isPart);
    const begun = Math.min(...lost.map(({ firstAt }) => firstAt));
    return [
      {
        ...{ tenant, eventName, count: lost.length },
        failures: rows.filter(({ at }) => at >= begun && at <= lastAt),
        before: { since: lastAt, until: lastAt },
        silent: { since: lastAt + 1, until: lastAt + overdueAfter },
        after,
      },
    ];
  });
}

/**
 * Whether the store no longer knows what became of an event. A process may have handled it, and may have been killed
 * before it logged that.
 */
const isForgotten = (
  { key = '', lastAt }: FailedEvent,
  { now, rememberFor, states }: Pick<Evidence, 'now' | 'rememberFor' | 'states'>,
): boolean => now - lastAt >= rememberFor && states.get(key) === undefined;

/** Other events of the same calls arrived meanwhile, as `findDue` reports it while it lasts. */
function amongOthers(
  { expect, failures }: Gathered,
  event: SeenEvent,
  due: readonly DueCalls[],
): readonly Candidate[] {
  const { tenant, eventName } = event;
  if (expect && !expect.includes(eventName)) return [];
  return due.flatMap(({ other, ended }) =>
    ended
      // Deliveries that failed have arrived, and those of a pause are told by `afterFailures`.
      .filter(
        ({ lastAt, nextAt }) =>
          !failures.some((row) => row.at > lastAt && row.at < nextAt && isDeliveryOf(row, event)),
      )
      .map(({ lastAt, nextAt, calls }) => ({
        ...{ tenant, eventName, count: calls, other, failures: [] },
        before: { since: lastAt, until: lastAt + PERIOD_MS - 1 },
        after: { since: nextAt, until: nextAt + PERIOD_MS - 1 },
      })),
  );
}

/** Whether a reconcile can run what was missed, or a part of it. */
export const canBeReconciled = (
  { eventName, until }: EndedSilence,
  limits: ReconcileLimits,
): boolean => isRunByReconcile(eventName) && isReconcilable(until, limits);

/** Those of which reconcile runs what was missed. */
export const findEnded = (
  limits: ReconcileLimits,
  silences: readonly EndedSilence[],
): readonly Finding[] =>
  silences
    .filter((one) => canBeReconciled(one, limits))
    .map((one) => ({
      ...{ what: 'silence-ended', kind: 'missed', urgent: false, ...one },
      settlesAt: one.until + SETTLE_FOR_MS,
      isSettled: limits.now >= one.until + SETTLE_FOR_MS,
    }));
