import type { OutcomeCode } from '@call-webhooks/core';
import { counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import { causeOfRow } from '../dead-letters/failed-rows.ts';
import { eventId, groupedBy, type Evidence, type SeenEvent } from './evidence.ts';
import type { CommonError, Finding } from './findings.ts';
import type { Thresholds } from './thresholds.ts';

/** An event that failed, or deliveries without a key, which cannot be told apart. */
interface FailedEvent {
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

/** The interval at which the service retries; milliseconds. */
const RETRY_MS = 300_000;
/** Whose dead letters count: a redrive leaves what was one before. */
const GIVEN_UP_BY: ReadonlySet<string> = new Set(['webhook', 'queue']);
/** More events than this are not asked for: some of them say as much as all. */
const MAX_ASKED = 500;

const isRedactedKey = (key: string) => key.includes('[redacted]');

/** @param rows the oldest first */
function failedEvents(
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

/** Failed events whose retry failed as well, those that failed once, and those whose retry is overdue. */
function openEvents({ now, thresholds, failures, rememberFor }: Asked) {
  const all = failedEvents(failures, thresholds);
  const named = all.filter(({ key }) => key !== undefined);
  const isRecent = ({ lastAt }: FailedEvent) => now - lastAt <= thresholds.overdueAfter;
  const wasRetried = ({ attempt, firstAt, lastAt }: FailedEvent) =>
    attempt >= 2 || lastAt - firstAt >= thresholds.retriedAfter;
  return {
    retried: named
      .filter((one) => isRecent(one) && wasRetried(one))
      .sort((one, other) => one.firstAt - other.firstAt)
      .slice(0, MAX_ASKED),
    /** They may be retried successfully, or be the first ones that show that all of them fail. */
    failedOnce: named.filter((one) => isRecent(one) && !wasRetried(one)).slice(-MAX_ASKED),
    overdue: named
      .filter((one) => !isRecent(one) && now - one.lastAt < rememberFor)
      .slice(-MAX_ASKED),
    unnamed: all.filter((one) => one.key === undefined && isRecent(one)),
  };
}

/** The keys of events about which a judge wants to know what the store does. */
export function keysOfFailures(asked: Asked): readonly string[] {
  const { retried, failedOnce, overdue } = openEvents(asked);
  const deadLettered = asked.deadLettered.slice(-MAX_ASKED);
  return [...retried, ...failedOnce, ...overdue, ...deadLettered].flatMap(({ key }) =>
    key === undefined || isRedactedKey(key) ? [] : key,
  );
}

/** Events that the service is about to give up, or that became dead letters. */
export function findFailing(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const { thresholds, states, failures } = evidence;
  const { retried, failedOnce, unnamed } = openEvents(evidence);
  const isOpen = ({ key = '' }: FailedEvent) => {
    const state = states.get(key);
    return state === 'failed' || state === undefined;
  };
  const isFailing = (one: FailedEvent) => {
    const took = one.lastAt - one.firstAt;
    if (one.attempt >= 3 || took >= 2 * thresholds.retriedAfter) return true;
    // Two failures in a row are normal for one event of many. Not if all others of its name fail too.
    const firstAt = took < thresholds.retriedAfter ? one.lastAt - RETRY_MS : one.firstAt;
    return (seen.get(eventId(one))?.acknowledgedAt ?? 0) <= firstAt;
  };
  const open = retried.filter(isOpen);
  const failing = [
    ...open.filter(isFailing),
    ...unnamed.filter(
      (one) =>
        one.attempt >= 3 ||
        (!one.isRedacted &&
          one.rows >= 3 &&
          one.lastAt - one.firstAt >= 2 * thresholds.retriedAfter),
    ),
  ];
  const others = groupedBy([...open, ...failedOnce.filter(isOpen)], eventId);
  const found = [...groupedBy(failing, eventId)].map(([id, worst]): Finding => {
    // What has failed less often fails as well, and may have done so before.
    const events = [...new Set([...worst, ...(others.get(id) ?? [])])];
    const [{ tenant, eventName, firstAt, lastAt, outcome, key, ...oldest }] = events.sort(
      (one, other) => one.firstAt - other.firstAt,
    ) as [FailedEvent];
    const rows = failures.filter((row) => row.at >= firstAt && isOf(row, { tenant, eventName }));
    return {
      what: 'failing-events',
      kind: 'failing',
      urgent: events.some(({ attemptsLeft }) => (attemptsLeft ?? 0) === 0),
      ...{ tenant, eventName, since: firstAt, count: events.length },
      lastAt,
      outcome,
      most: mostCommonError(rows),
      failures: Math.max(oldest.attempt, oldest.rows),
      isKnown: key !== undefined,
    };
  });
  return [...found, ...deadLettered(evidence, found)];
}

const isOf = (row: OutcomeRow, { tenant, eventName }: { tenant: string; eventName: string }) =>
  (row.tenant ?? '') === tenant && (row.eventName ?? '') === eventName;

/** What most of these failures have in common. */
function mostCommonError(rows: readonly OutcomeRow[]): CommonError | undefined {
  const groups = [...groupedBy(rows, causeOfRow)];
  const [first] = groups.sort(([, one], [, other]) => other.length - one.length);
  return first && { text: first[0], count: first[1].length, of: rows.length };
}

/**
 * Dead letters of the last hour that no redrive has handled since. Their counters are exact and name no tenant, so
 * those of a receiver with tenants are counted by their rows: what concerns one tenant is never said of another one.
 */
function deadLettered(
  { now, minutes, deadLettered: rows, states, thresholds }: Evidence,
  failing: readonly Finding[],
): readonly Finding[] {
  const from = now - thresholds.deadLettersFor;
  const counted = new Map<string, { since: number; count: number }>();
  for (const [at, counters] of minutes) {
    if (at <= from) continue;
    for (const [name, count] of Object.entries(counters)) {
      const [kind, source = '', outcome, eventName = ''] = counterParts(name);
      if ((kind !== 'outcome' && kind !== 'late') || outcome !== 'dead-lettered') continue;
      if (!GIVEN_UP_BY.has(source)) continue;
      const one = counted.get(eventName) ?? { since: at, count: 0 };
      counted.set(eventName, { since: Math.min(one.since, at), count: one.count + count });
    }
  }
  const givenUp = rows.filter(({ source }) => GIVEN_UP_BY.has(source));
  const rowsOf = groupedBy(givenUp, ({ eventName = '' }) => eventName);
  // The store has the events of dead jobs as handled, whatever became of the jobs.
  const isDone = ({ source, key = '' }: OutcomeRow) =>
    source !== 'queue' && states.get(key) === 'handled';
  return [...counted]
    .flatMap(([eventName, all]) => {
      const own = rowsOf.get(eventName) ?? [];
      const byTenant = groupedBy(own, ({ tenant = '' }) => tenant);
      const hasTenants = [...byTenant.keys()].some((tenant) => tenant !== '');
      if (!hasTenants) byTenant.set('', own);
      return [...byTenant].map(([tenant, ofTenant]) => {
        const left = ofTenant.filter((row) => !isDone(row));
        const count = hasTenants ? left.length : all.count - (ofTenant.length - left.length);
        const since = Math.min(...left.map(({ at }) => at));
        const isWhole = hasTenants || count <= left.length;
        return {
          ...{ tenant, eventName, count, since: isWhole ? since : Math.min(since, all.since) },
          most: mostCommonError(left),
        };
      });
    })
    .filter(({ count }) => count > 0)
    .filter((one) => !failing.some((other) => eventId(other) === eventId(one)))
    .map((one) => ({ what: 'dead-letters', kind: 'failing', urgent: false, ...one }));
}

/** Events that failed and were not sent again, while others of their name arrive. */
export function findGivenUp(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const { states, thresholds } = evidence;
  const givenUp = openEvents(evidence).overdue.filter(
    (one) =>
      states.get(one.key ?? '') === 'failed' &&
      (seen.get(eventId(one))?.arrivedAt ?? 0) > one.lastAt + thresholds.overdueAfter,
  );
  return [...groupedBy(givenUp, eventId).values()].map((events): Finding => {
    const [{ tenant, eventName }] = events as [FailedEvent];
    const since = Math.min(...events.map(({ firstAt }) => firstAt));
    const of = { tenant, eventName, since, count: events.length };
    return { what: 'given-up', kind: 'missed', urgent: false, ...of };
  });
}
