import { counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import {
  eventId,
  groupedBy,
  type Evidence,
  type SeenEvent,
  type WaitingLetters,
} from './evidence.ts';
import {
  isRecent,
  mostCommonError,
  overdueEvents,
  wasRetried,
  type Episode,
  type FailedEvent,
} from './failed-events.ts';
import type { Finding } from './findings.ts';

/** The interval at which the service retries; milliseconds. */
const RETRY_MS = 300_000;
/** Whose dead letters count: a redrive leaves what was one before. */
const GIVEN_UP_BY: readonly string[] = ['webhook', 'queue'];

/** Events that the service is about to give up, or that became dead letters. */
export function findFailing(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  episodes: ReadonlyMap<string, Episode>,
): readonly Finding[] {
  const { thresholds } = evidence;
  const acknowledgedAt = (one: FailedEvent) => seen.get(eventId(one))?.acknowledgedAt ?? 0;
  const isFailing = (one: FailedEvent) => {
    const { key, isRedacted, attempt, rows, firstAt, lastAt } = one;
    const took = lastAt - firstAt;
    if (key === undefined)
      return (
        isRecent(one, evidence) &&
        (attempt >= 3 || (!isRedacted && rows >= 3 && took >= 2 * thresholds.retriedAfter))
      );
    // The service gave it up, and what has arrived since has failed as well: as after a rule was resumed too early.
    if (!isRecent(one, evidence))
      return wasRetried(one, thresholds) && acknowledgedAt(one) <= lastAt;
    if (attempt >= 3 || took >= 2 * thresholds.retriedAfter) return true;
    if (!wasRetried(one, thresholds)) return false;
    // Two failures in a row are normal for one event of many. Not if all others of its name fail too.
    return acknowledgedAt(one) <= (took < thresholds.retriedAfter ? lastAt - RETRY_MS : firstAt);
  };
  const found = [...episodes.values()]
    .filter((episode) => isRecent(episode, evidence) && episode.events.some(isFailing))
    .map(({ events, since, lastAt, most }): Finding => {
      // What has failed less often fails as well, and may have done so before.
      const [{ tenant, eventName, key, ...oldest }] = events;
      return {
        ...{ what: 'failing-events', kind: 'failing', tenant, eventName, since, lastAt, most },
        urgent: events.some(({ attemptsLeft }) => (attemptsLeft ?? 0) === 0),
        count: events.length,
        outcome: oldest.outcome,
        failures: Math.max(oldest.attempt, oldest.rows),
        isKnown: key !== undefined,
      };
    });
  return [...found, ...deadLettered(evidence, found)];
}

/**
 * Dead letters of the last 26 hours that no redrive has handled since. Their counters are exact and name no tenant, so
 * those of a receiver with tenants are counted by their rows: what concerns one tenant is never said of another one.
 */
function deadLettered(
  { minutes, deadLettered: rows, states, letters }: Evidence,
  failing: readonly Finding[],
): readonly Finding[] {
  // Of those that wait, the log says nothing new. Those that do not were removed or erased.
  const givenUpBy = GIVEN_UP_BY.filter((source) => source !== letters?.source);
  const counted = new Map<string, { since: number; count: number }>();
  for (const [at, counters] of minutes) {
    for (const [name, count] of Object.entries(counters)) {
      const [kind, source = '', outcome, eventName = ''] = counterParts(name);
      if ((kind !== 'outcome' && kind !== 'late') || outcome !== 'dead-lettered') continue;
      if (!givenUpBy.includes(source)) continue;
      const one = counted.get(eventName) ?? { since: at, count: 0 };
      counted.set(eventName, { since: Math.min(one.since, at), count: one.count + count });
    }
  }
  const givenUp = rows.filter(({ source }) => givenUpBy.includes(source));
  const rowsOf = groupedBy(givenUp, ({ eventName = '' }) => eventName);
  // The store has the events of dead jobs as handled, whatever became of the jobs.
  const isDone = ({ source, key = '' }: OutcomeRow) =>
    source !== 'queue' && states.get(key) === 'handled';
  const logged = [...counted].flatMap(([eventName, all]) => {
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
  });
  const waiting = letters?.waiting ?? [];
  const isWaiting = (one: Pick<SeenEvent, 'tenant' | 'eventName'>) =>
    waiting.some((other) => eventId(other) === eventId(one));
  // Letters of which neither the event nor the tenant is known may be any of them.
  const areKnown = waiting.every(({ tenant, eventName }) => tenant !== '' || eventName !== '');
  const gone = letters?.source === 'webhook' && areKnown ? lettersGone(rows, states) : [];
  return [
    ...waiting.map((one) => ({ ...one, place: 'waiting' as const })),
    ...[
      ...logged.map((one) => ({ ...one, place: 'log' as const })),
      ...gone.map((one) => ({ ...one, place: 'gone' as const })),
    ].filter((one) => !isWaiting(one)),
  ]
    .filter(({ count }) => count > 0)
    .filter((one) => !failing.some((other) => eventId(other) === eventId(one)))
    .map((one) => ({ what: 'dead-letters', kind: 'failing', urgent: false, ...one }));
}

/** Events of which the store knows that nothing has handled them since they became dead letters. */
function lettersGone(
  rows: readonly OutcomeRow[],
  states: Evidence['states'],
): readonly WaitingLetters[] {
  const open = rows.filter(
    ({ source, key = '' }) => source === 'webhook' && states.get(key) === 'dead-lettered',
  );
  const groups = groupedBy(open, ({ tenant = '', eventName = '' }) =>
    eventId({ tenant, eventName }),
  );
  return [...groups.values()].map((own) => {
    const [{ tenant = '', eventName = '' }] = own as [OutcomeRow];
    const count = new Set(own.map(({ key }) => key)).size;
    const since = Math.min(...own.map(({ at }) => at));
    return { tenant, eventName, count, since, most: mostCommonError(own) };
  });
}

/** Events that failed and were not sent again, while others of their name arrive. */
export function findGivenUp(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const { states, thresholds } = evidence;
  const givenUp = overdueEvents(evidence).filter(
    (one) =>
      states.get(one.key ?? '') === 'failed' &&
      (seen.get(eventId(one))?.arrivedAt ?? 0) > one.lastAt + thresholds.overdueAfter,
  );
  return [...groupedBy(givenUp, eventId).values()].map((events): Finding => {
    const [{ tenant, eventName }] = events as [FailedEvent];
    const since = Math.min(...events.map(({ firstAt }) => firstAt));
    const othersAt = seen.get(eventId({ tenant, eventName }))?.arrivedAt ?? since;
    const of = { tenant, eventName, since, count: events.length, othersAt };
    return { what: 'given-up', kind: 'missed', urgent: false, ...of };
  });
}
