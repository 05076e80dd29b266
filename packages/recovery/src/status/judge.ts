import { counterParts } from '@call-webhooks/core/stores';
import { eventId, OTHERS, seenEvents, type Evidence, type SeenEvent } from './evidence.ts';
import { findFailing, findGivenUp, keysOfFailures } from './failing.ts';
import type { Finding } from './findings.ts';
import { findReconciled } from './missed.ts';
import { findRejected } from './rejected.ts';
import {
  findDue,
  findOverdue,
  findUnusualSilence,
  histories,
  lastFailureOf,
  type Histories,
} from './silent.ts';
import { findSlow } from './slow.ts';
import { findStuck } from './stuck.ts';
import type { EventStatus, Status } from './types.ts';
import { code, inWords } from './words.ts';

type Gathered = Omit<Evidence, 'states'>;

/** The keys of events that have to be looked up in the store, for `states` of the evidence. */
export function keysToAsk(evidence: Gathered): readonly string[] {
  const keys = [...seenEvents(evidence).values()].map(
    (event) => lastFailureOf(event, evidence)?.key,
  );
  return [...new Set([...keysOfFailures(evidence), ...keys.flatMap((key) => key ?? [])])];
}

/** Judges what is known. The same evidence always has the same result. */
export function judge(evidence: Evidence): Status {
  const { now } = evidence;
  const seen = seenEvents(evidence);
  const past = histories(evidence, seen);
  const findings = findAll(evidence, seen, past);
  const attention = findings
    .sort((one, other) => Number(other.urgent) - Number(one.urgent) || one.since - other.since)
    .map((finding) => inWords(finding, now));
  return {
    at: now,
    attention,
    events: eventsOf(evidence, seen, findings, past),
    notes: notesOf(evidence),
  };
}

/** Whether a finding is about an event, perhaps among others. */
function concerns(
  finding: Finding,
  { tenant, eventName }: Pick<SeenEvent, 'tenant' | 'eventName'>,
): boolean {
  if (finding.tenant !== tenant && finding.tenant !== '') return false;
  if (finding.what === 'rejected-events')
    return finding.events.some((event) => event.eventName === eventName);
  return finding.eventName === eventName || finding.what === 'usual-hours';
}

function findAll(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  past: Histories,
): Finding[] {
  const found: Finding[] = [...findOverdue(evidence, seen), ...findRejected(evidence, seen)];
  /** A silence that is explained already says nothing new. */
  const isNew = (finding: Finding) =>
    !found.some(
      (one) => (one.kind === 'silent' || one.what === 'rejected-events') && concerns(one, finding),
    );
  found.push(...findDue(seen, past).filter(isNew));
  const isQuietTenant = ({ tenant }: Finding) =>
    !found.some(
      (one) => one.tenant === tenant && (one.kind === 'silent' || one.kind === 'rejected'),
    );
  found.push(...findUnusualSilence(evidence, seen, past).filter(isQuietTenant));
  return [
    ...found,
    ...findFailing(evidence, seen),
    ...findGivenUp(evidence, seen),
    ...findReconciled(evidence),
    ...findStuck(evidence),
    ...findSlow(evidence),
  ];
}

function eventsOf(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  findings: readonly Finding[],
  past: Histories,
): readonly EventStatus[] {
  const known = [...seen.values()].map((event): EventStatus => {
    const { tenant, eventName, arrivedAt, acknowledgedAt } = event;
    return {
      ...(tenant !== '' && { tenant }),
      eventName,
      arrivedAt,
      ...(acknowledgedAt > 0 && { acknowledgedAt }),
      ...stateOf(event, evidence, findings, past),
    };
  });
  const never = (evidence.expect ?? [])
    .filter((name) => known.every(({ eventName }) => eventName !== name))
    .map((eventName): EventStatus => ({ eventName, state: 'unknown', why: WHY.never }));
  const nameOf = ({ tenant = '', eventName }: EventStatus) => `${tenant}\0${eventName}`;
  return [...known, ...never].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function stateOf(
  event: SeenEvent,
  { now, thresholds }: Evidence,
  findings: readonly Finding[],
  { due, periods }: Histories,
): Pick<EventStatus, 'state' | 'why'> {
  if (findings.some((finding) => concerns(finding, event))) return { state: 'attention' };
  const judged = due.get(eventId(event)) ?? [];
  const isDue = judged.some(({ calls }) => calls > 0);
  if (now - event.arrivedAt <= thresholds.nothingFor && !isDue) return { state: 'arrives' };
  if (event.tenant === OTHERS || event.eventName === OTHERS)
    return { state: 'unknown', why: WHY.others };
  if (judged.length > 0) return { state: 'quiet' };
  const [first] = periods.get(event.tenant) ?? [];
  const hasWeek = first !== undefined && first.at <= now - WEEK_MS;
  // Of an event that no other one says anything about, only the usual hours tell.
  return hasWeek ? { state: 'quiet' } : { state: 'unknown', why: WHY.short };
}

const WEEK_MS = 7 * 86_400_000;

const WHY = {
  never: 'No delivery of it has arrived in the last 30 days.',
  others: 'More than 100 tenants or event names are counted together as `*`.',
  short:
    'It has arrived too seldom so far to say whether its silence is normal: the log has to cover a week, or ten arrivals beside other events of the same calls.',
};

/** What nobody has to act on. */
function notesOf({ minutes }: Evidence): readonly string[] {
  const ignored = new Map<string, number>();
  for (const counters of minutes.values())
    for (const [name, count] of Object.entries(counters)) {
      const [kind, , outcome, eventName = ''] = counterParts(name);
      if (kind === 'outcome' && outcome === 'ignored')
        ignored.set(eventName, (ignored.get(eventName) ?? 0) + count);
    }
  return [...ignored].map(
    ([eventName, count]) =>
      `${count === 1 ? '1 delivery' : `${count.toLocaleString('en')} deliveries`} of ${code(eventName)} ${count === 1 ? 'was' : 'were'} acknowledged in the last 26 hours without a handler.`,
  );
}
