import { COUNTER_SERIES, counterParts } from '@call-webhooks/core/stores';
import { dueCalls, PERIOD_MS, type Arrivals, type DueCalls } from './due-calls.ts';
import {
  eventId,
  groupedBy,
  OTHERS,
  SAME_TIME_MS,
  type Evidence,
  type SeenEvent,
} from './evidence.ts';
import { episodesOf, wasNotRetried, wasReconciled } from './failed-events.ts';
import type { Finding } from './findings.ts';

/** The last delivery of an event failed, and its retry did not come. */
export function findOverdue(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const { now, thresholds } = evidence;
  const overdue = [...seen.values()].filter((event) => {
    const { failedAt, acknowledgedAt, arrivedAt } = event;
    if (failedAt === 0 || failedAt < acknowledgedAt - SAME_TIME_MS) return false;
    return now - arrivedAt > thresholds.overdueAfter && !wasSettled(event, evidence);
  });
  if (overdue.length === 0) return [];
  const episodes = episodesOf(evidence, seen, wasNotRetried);
  return overdue.map((event): Finding => {
    const { tenant, eventName, arrivedAt } = event;
    // The log forgets them sooner than when the event arrived last.
    const { since = arrivedAt, events = [], most } = episodes.get(eventId(event)) ?? {};
    const reconciled = events.filter(({ key = '' }) => evidence.states.get(key) === 'handled');
    return {
      ...{ what: 'retry-overdue', kind: 'silent', urgent: true, by: 'retries', tenant, eventName },
      ...{ since, count: Math.max(1, events.length), lastAt: arrivedAt, most },
      reconciled: reconciled.length,
    };
  });
}

/** The key of the failure of an event that came last, for `keysToAsk`. */
export const lastFailureOf = (
  { tenant, eventName }: Pick<SeenEvent, 'tenant' | 'eventName'>,
  { failures }: Pick<Evidence, 'failures'>,
) =>
  failures.findLast((row) => (row.tenant ?? '') === tenant && (row.eventName ?? '') === eventName);

/** A process that was killed may not have logged a success. The store knows it. */
function wasSettled(event: SeenEvent, evidence: Evidence): boolean {
  const row = lastFailureOf(event, evidence);
  if (row?.key === undefined || evidence.now - row.at >= evidence.rememberFor) return false;
  const state = evidence.states.get(row.key);
  if (state !== 'handled' && state !== 'dead-lettered') return false;
  // What a reconcile has handled says nothing about the service.
  return !wasReconciled({ eventName: event.eventName, lastAt: row.at }, evidence);
}

/** What the history says about the events. */
export interface Histories {
  /** The calls of which an event is due, by `eventId`. Empty where no other event says anything about it. */
  readonly due: ReadonlyMap<string, readonly DueCalls[]>;
  /** The periods of each tenant, the oldest first. */
  readonly periods: ReadonlyMap<string, readonly Arrivals[]>;
}

export function histories(
  evidence: Omit<Evidence, 'read'>,
  seen: ReadonlyMap<string, SeenEvent>,
): Histories {
  const periods = arrivalsOf(evidence);
  const due = new Map<string, readonly DueCalls[]>();
  for (const [tenant, own] of groupedBy(seen.values(), ({ tenant }) => tenant)) {
    if (tenant === OTHERS) continue;
    const names = own.map(({ eventName }) => eventName);
    for (const event of own)
      due.set(eventId(event), dueCalls(periods.get(tenant) ?? [], event, names, evidence));
  }
  return { due, periods };
}

function arrivalsOf({
  arrivals,
}: Pick<Evidence, 'arrivals'>): ReadonlyMap<string, readonly Arrivals[]> {
  const found = new Map<string, Map<number, Map<string, number>>>();
  for (const [at, counters] of arrivals)
    for (const [name, count] of Object.entries(counters)) {
      const [eventName = '', tenant = ''] = counterParts(name);
      const periods = found.get(tenant) ?? new Map<number, Map<string, number>>();
      found.set(tenant, periods);
      const counts = periods.get(at) ?? new Map<string, number>();
      periods.set(at, counts);
      counts.set(eventName, (counts.get(eventName) ?? 0) + count);
    }
  return new Map(
    [...found].map(([tenant, periods]) => [
      tenant,
      [...periods].map(([at, counts]) => ({ at, counts })).sort((one, other) => one.at - other.at),
    ]),
  );
}

/** Calls go on, and an event of them does not come. */
export function findDue(
  { expect }: Pick<Evidence, 'expect'>,
  seen: ReadonlyMap<string, SeenEvent>,
  { due }: Histories,
): readonly Finding[] {
  return [...seen.values()].flatMap((event): readonly Finding[] => {
    const silence = due.get(eventId(event))?.find(({ calls, limit }) => calls >= limit);
    if (!silence || (expect && !expect.includes(event.eventName))) return [];
    const { tenant, eventName, arrivedAt } = event;
    const { other, calls, share } = silence;
    return [
      {
        ...{ what: 'calls-due', kind: 'silent', by: 'other-events', urgent: share >= 0.9 },
        ...{ tenant, eventName, since: arrivedAt, count: calls, other },
        percent: Math.round(share * 100),
      },
    ];
  });
}

const WEEK_MS = 7 * 86_400_000;

/** How many calls came in the same hours of the week before, by their most frequent event. */
export function usualCalls(
  periods: readonly Arrivals[],
  since: number,
  until: number,
  now: number,
): { readonly count: number; readonly isWhole: boolean } {
  const from = Math.floor(since / PERIOD_MS) * PERIOD_MS - WEEK_MS;
  const to = Math.floor(until / PERIOD_MS) * PERIOD_MS - WEEK_MS;
  const usual = new Map<string, number>();
  for (const { at, counts } of periods)
    if (at > from && at < to)
      for (const [name, count] of counts) usual.set(name, (usual.get(name) ?? 0) + count);
  const isWhole = from >= now - COUNTER_SERIES.arrivals.keptMs;
  return { count: Math.max(0, ...usual.values()), isWhole };
}

/** Nothing of a tenant comes, and much came in the same hours of the week before. */
export function findUnusualSilence(
  { now, thresholds }: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  { periods }: Histories,
): readonly Finding[] {
  const found: Finding[] = [];
  for (const [tenant, own] of groupedBy(seen.values(), ({ tenant }) => tenant)) {
    const since = Math.max(...own.map(({ arrivedAt }) => arrivedAt));
    if (tenant === OTHERS || now - since < thresholds.nothingFor) continue;
    const { count, isWhole } = usualCalls(periods.get(tenant) ?? [], since, now, now);
    if (count < thresholds.usualCalls) continue;
    found.push({
      ...{ what: 'usual-hours', kind: 'silent', by: 'usual-hours', urgent: false },
      ...{ tenant, eventName: '', since, count, isWhole },
    });
  }
  return found;
}
