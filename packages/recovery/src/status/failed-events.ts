import type { OutcomeCode } from '@call-webhooks/core';
import { counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import { causeOfRow } from '../dead-letters/failed-rows.ts';
import {
  eventId,
  groupedBy,
  SAME_TIME_MS,
  type CommonError,
  type Evidence,
  type SeenEvent,
} from './evidence.ts';
import type { Thresholds } from './thresholds.ts';

/** An event that failed, or deliveries without a key, which cannot be told apart. */
export interface FailedEvent {
  readonly key: string | undefined;
  /** Whether it has a key that must not be shown. */
  readonly isRedacted: boolean;
  readonly tenant: string;
  readonly eventName: string;
  /** The first and the last failure. */
  firstAt: number;
  lastAt: number;
  rows: number;
  attempt: number;
  attemptsLeft: number | undefined;
  outcome: OutcomeCode;
}

/** More events than this are not asked for: some of them say as much as all. */
const MAX_ASKED = 500;

const isRedactedKey = (key: string) => key.includes('[redacted]');

/** @param rows the oldest first */
export function failedEvents(
  rows: readonly OutcomeRow[],
  { unnamedPause }: Thresholds,
): readonly FailedEvent[] {
  const found = new Map<string, FailedEvent>();
  for (const row of rows) {
    const { tenant = '', eventName = '', at, attempt = 1, attemptsLeft, outcome } = row;
    // Ids that look like a number or an address of a person: many events have the same redacted key.
    const isRedacted = row.key !== undefined && isRedactedKey(row.key);
    const key = isRedacted ? undefined : row.key;
    const id = key === undefined ? JSON.stringify([tenant, eventName, outcome]) : `key ${key}`;
    const one = found.get(id);
    if (!one || (key === undefined && at - one.lastAt > unnamedPause)) {
      const times = { firstAt: at, lastAt: at, rows: 1 };
      const of = { key, isRedacted, tenant, eventName };
      found.set(id, { ...of, ...times, attempt, attemptsLeft, outcome });
      continue;
    }
    one.lastAt = Math.max(one.lastAt, at);
    one.firstAt = Math.min(one.firstAt, at);
    one.rows += 1;
    one.attempt = Math.max(one.attempt, attempt);
    // Unknown when the store failed.
    one.attemptsLeft = attemptsLeft ?? one.attemptsLeft;
    one.outcome = outcome;
  }
  return [...found.values()];
}

type Asked = Pick<Evidence, 'now' | 'thresholds' | 'failures' | 'deadLettered' | 'rememberFor'>;

/** Whether the service has sent an event again, so that a second delivery of it has failed. */
export const wasRetried = (
  { attempt, firstAt, lastAt }: FailedEvent,
  { retriedAfter }: Thresholds,
): boolean => attempt >= 2 || lastAt - firstAt >= retriedAfter;

/** Whether the retry of an event may still come. */
export const isRecent = (
  { lastAt }: Pick<FailedEvent, 'lastAt'>,
  { now, thresholds }: Pick<Evidence, 'now' | 'thresholds'>,
): boolean => now - lastAt <= thresholds.overdueAfter;

/** Failed events whose retry is overdue, and which the store still knows. */
export const overdueEvents = (asked: Asked): readonly FailedEvent[] =>
  failedEvents(asked.failures, asked.thresholds)
    .filter((one) => one.key !== undefined && !isRecent(one, asked))
    .filter(({ lastAt }) => asked.now - lastAt < asked.rememberFor)
    .slice(-MAX_ASKED);

/** The keys of events about which a judge wants to know what the store does. */
export function keysOfFailures(evidence: Asked): readonly string[] {
  const named = failedEvents(evidence.failures, evidence.thresholds).filter(
    (one) => one.key !== undefined && isRecent(one, evidence),
  );
  const retried = named.filter((one) => wasRetried(one, evidence.thresholds));
  // These may be retried successfully, or be the first ones that show that all of them fail.
  const failedOnce = named.filter((one) => !wasRetried(one, evidence.thresholds));
  const asked = [
    ...retried.slice(0, MAX_ASKED),
    ...failedOnce.slice(-MAX_ASKED),
    ...overdueEvents(evidence),
    ...evidence.deadLettered.slice(-MAX_ASKED),
  ];
  return asked.flatMap(({ key }) => (key === undefined || isRedactedKey(key) ? [] : key));
}

/**
 * Failed events of one name of one tenant that belong together: none was acknowledged in between, or they failed soon
 * after each other.
 */
export interface Episode {
  /** The oldest first. */
  readonly events: readonly [FailedEvent, ...FailedEvent[]];
  /** When the first and the last delivery failed; milliseconds since the epoch. */
  readonly since: number;
  readonly lastAt: number;
  /** What most of the failed deliveries have in common. */
  readonly most: CommonError | undefined;
}

/**
 * The newest episode of each event name of each tenant, by `eventId`.
 * @param isPart whether a failed event counts: by default, while it is open
 */
export function episodesOf(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  isPart = isOpen,
): ReadonlyMap<string, Episode> {
  const { failures, thresholds } = evidence;
  const found = new Map<string, Episode>();
  for (const [id, all] of groupedBy(failedEvents(failures, thresholds), eventId)) {
    // Of what names no event, nothing is known to have been acknowledged.
    const acknowledgedAt = seen.get(id)?.acknowledgedAt ?? Infinity;
    const newestFirst = all
      .filter((one) => isPart(one, evidence, acknowledgedAt))
      .sort((one, other) => other.lastAt - one.lastAt);
    const [newest] = newestFirst;
    if (!newest) continue;
    let since = newest.firstAt;
    const events: FailedEvent[] = [];
    for (const one of newestFirst) {
      const isUnbroken = one.lastAt >= acknowledgedAt - SAME_TIME_MS;
      if (!isUnbroken && since - one.lastAt > thresholds.overdueAfter) break;
      since = Math.min(since, one.firstAt);
      events.push(one);
    }
    events.sort((one, other) => one.firstAt - other.firstAt);
    const rows = failures.filter((row) => row.at >= since && isOf(row, newest));
    found.set(id, {
      ...{ events: events as [FailedEvent, ...FailedEvent[]], since, lastAt: newest.lastAt },
      most: mostCommonError(rows),
    });
  }
  return found;
}

/** Whether the service has not been told that an event is done, as far as is known. */
export function isOpen(
  { key, lastAt }: FailedEvent,
  { states }: Pick<Evidence, 'states' | 'minutes'>,
  acknowledgedAt: number,
): boolean {
  if (key === undefined) return true;
  // There were too many to ask for all, or the store has forgotten them.
  if (!states.has(key)) return lastAt >= acknowledgedAt;
  const state = states.get(key);
  return state === 'failed' || state === undefined;
}

/** The same, with those that only a reconcile has handled: the service still gave them up. */
export const wasNotRetried: typeof isOpen = (one, evidence, acknowledgedAt) =>
  isOpen(one, evidence, acknowledgedAt) || wasReconciled(one, evidence);

/**
 * Whether a reconcile has handled events of a name since a failure of it. A redrive does not count: the service was told
 * that the event is done when it became a dead letter.
 */
export function wasReconciled(
  { eventName, lastAt }: Pick<FailedEvent, 'eventName' | 'lastAt'>,
  { minutes }: Pick<Evidence, 'minutes'>,
): boolean {
  for (const [at, counters] of minutes)
    if (at + MINUTE_MS > lastAt)
      for (const name of Object.keys(counters)) {
        const [kind, source, outcome = '', event] = counterParts(name);
        if (kind !== 'outcome' || source !== 'reconcile' || event !== eventName) continue;
        if (RAN.has(outcome)) return true;
      }
  return false;
}

const MINUTE_MS = 60_000;
/** The outcomes of an event that nothing had handled before. */
const RAN: ReadonlySet<string> = new Set<OutcomeCode>(['handled', 'queued']);

const isOf = (row: OutcomeRow, { tenant, eventName }: { tenant: string; eventName: string }) =>
  (row.tenant ?? '') === tenant && (row.eventName ?? '') === eventName;

/** What most of these failures have in common. */
export function mostCommonError(rows: readonly OutcomeRow[]): CommonError | undefined {
  const groups = [...groupedBy(rows, causeOfRow)];
  const [first] = groups.sort(([, one], [, other]) => other.length - one.length);
  return first && { text: first[0], count: first[1].length, of: rows.length };
}
