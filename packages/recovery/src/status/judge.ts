import type { DueCalls, EarlyHistory } from './due-calls.ts';
import {
  eventId,
  OTHERS,
  seenEvents,
  type Evidence,
  type SeenEvent,
  type Window,
} from './evidence.ts';
import { endedSilences, findEnded, windowsOfEnded, type EndedSilence } from './ended-silence.ts';
import { episodesOf, keysOfFailures } from './failed-events.ts';
import { findFailing, findGivenUp } from './failing.ts';
import type { Finding } from './findings.ts';
import { findReconciled } from './missed.ts';
import {
  findRejected,
  undecidedRejections,
  windowsOfRejected,
  type Undecided,
} from './rejected.ts';
import {
  findDue,
  findOverdue,
  findUnusualSilence,
  histories,
  lastFailureOf,
  type Histories,
} from './silent.ts';
import { findSlow, windowsOfSlow } from './slow.ts';
import { notesOf } from './notes.ts';
import { findStuck, windowsOfStuck } from './stuck.ts';
import type { EventStatus, Status } from './types.ts';
import { shownTime, type ShowTime } from './times.ts';
import { calls, code, inWords, undecidedInWords } from './words.ts';

/** The keys of events that have to be looked up in the store, for `states` of the evidence. */
export function keysToAsk(evidence: Omit<Evidence, 'states' | 'read'>): readonly string[] {
  const keys = [...seenEvents(evidence).values()].map(
    (event) => lastFailureOf(event, evidence)?.key,
  );
  return [...new Set([...keysOfFailures(evidence), ...keys.flatMap((key) => key ?? [])])];
}

/** The times of which single rows have to be read, for `read` of the evidence: none as long as all is well. */
export function windowsToRead(evidence: Omit<Evidence, 'read'>): readonly Window[] {
  const seen = seenEvents(evidence);
  const all = [
    ...windowsOfRejected(evidence, seen),
    ...windowsOfSlow(evidence),
    ...windowsOfStuck(evidence),
    ...windowsOfEnded(evidence, seen, histories(evidence, seen)),
  ];
  const each = new Map(all.map((one) => [`${String(one.since)} ${String(one.until)}`, one]));
  return [...each.values()].slice(0, MAX_WINDOWS);
}

/** More say nothing new: of the others, times are told to the minute. */
const MAX_WINDOWS = 40;

/**
 * Judges what is known. The same evidence always has the same result.
 * @param timeZone that of the times in its texts; the zone of this process by default
 */
export function judge(evidence: Evidence, timeZone?: string): Status {
  const { now } = evidence;
  const at: ShowTime = (time, beside) => shownTime(time, now, timeZone, beside);
  const seen = seenEvents(evidence);
  const past = histories(evidence, seen);
  const silences = endedSilences(evidence, seen, past);
  const all = findAll(evidence, seen, past, silences);
  const undecided = undecidedRejections(evidence, seen, all);
  const findings = all.filter((one) => !isOver(one)).sort(byImportance);
  const attention = findings.map((finding) => inWords(finding, at, evidence));
  return {
    at: now,
    attention,
    undecided: undecided.map((one) => undecidedInWords(one, at)),
    events: eventsOf(evidence, seen, { findings, undecided, past, at }),
    notes: notesOf(evidence, { findings: all.filter(isOver), silences, past, at }),
    ...(timeZone !== undefined && { timeZone }),
  };
}

/**
 * Rejections that have ended, and after which nothing is missing, and dead letters that somebody has removed: nobody has
 * to do anything.
 */
const isOver = (finding: Finding): boolean =>
  finding.what === 'dead-letters'
    ? finding.place === 'gone'
    : finding.what === 'rejected-ended' && finding.again === 0 && finding.missing.length === 0;

/** What the states of events follow from. */
interface Judged {
  readonly findings: readonly Finding[];
  readonly undecided: readonly Undecided[];
  readonly past: Histories;
  readonly at: ShowTime;
}

/** Of two that are equally urgent, what is nearer to a pause, or to events that are lost, comes first. */
const KINDS: readonly Finding['kind'][] = [
  'store',
  'silent',
  'rejected',
  'failing',
  'stuck',
  'missed',
  'slow',
];

const byImportance = (one: Finding, other: Finding): number =>
  Number(other.urgent) - Number(one.urgent) ||
  KINDS.indexOf(one.kind) - KINDS.indexOf(other.kind) ||
  one.since - other.since;

/** Whether a finding is about an event, perhaps among others. */
function concerns(
  finding: Finding,
  { tenant, eventName }: Pick<SeenEvent, 'tenant' | 'eventName'>,
): boolean {
  if (finding.tenant !== tenant && finding.tenant !== '') return false;
  if (finding.what === 'rejected-events')
    return finding.events.some((event) => event.eventName === eventName);
  if (finding.what === 'rejected-ended')
    return finding.missing.some((event) => event.eventName === eventName);
  return finding.eventName === eventName || finding.what === 'usual-hours';
}

function findAll(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  past: Histories,
  silences: readonly EndedSilence[],
): Finding[] {
  const found: Finding[] = [...findOverdue(evidence, seen), ...findRejected(evidence, seen)];
  /** A silence that is explained already says nothing new. */
  const isNew = (finding: Finding) =>
    !found.some(
      (one) => (one.kind === 'silent' || one.what === 'rejected-events') && concerns(one, finding),
    );
  found.push(...findDue(evidence, seen, past).filter(isNew));
  const isQuietTenant = ({ tenant }: Finding) =>
    !found.some(
      (one) => one.tenant === tenant && (one.kind === 'silent' || one.kind === 'rejected'),
    );
  found.push(...findUnusualSilence(evidence, seen, past).filter(isQuietTenant));
  // What is silent again is not yet over.
  const ended = findEnded(evidence, silences).filter(isNew);
  const isTold = (finding: Finding) => ended.some((one) => eventId(one) === eventId(finding));
  return [
    ...found,
    ...ended,
    ...findFailing(evidence, seen, episodesOf(evidence, seen)),
    ...findGivenUp(evidence, seen).filter((finding) => isNew(finding) && !isTold(finding)),
    ...findReconciled(evidence),
    ...findStuck(evidence),
    ...findSlow(evidence),
  ];
}

function eventsOf(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  judged: Judged,
): readonly EventStatus[] {
  const known = [...seen.values()].map((event): EventStatus => {
    const { tenant, eventName, arrivedAt, acknowledgedAt } = event;
    return {
      ...(tenant !== '' && { tenant }),
      eventName,
      arrivedAt,
      ...(acknowledgedAt > 0 && { acknowledgedAt }),
      ...stateOf(event, evidence, judged),
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
  { now, thresholds, expect }: Evidence,
  { findings, undecided, past: { due, periods }, at }: Judged,
): Pick<EventStatus, 'state' | 'why'> {
  if (findings.some((finding) => concerns(finding, event))) return { state: 'attention' };
  const isSilent = now - event.arrivedAt > thresholds.nothingFor;
  if (isSilent && expect && !expect.includes(event.eventName)) return { state: 'quiet' };
  const related = due.get(eventId(event)) ?? [];
  const early = related.find((one) => (one.early?.waiting ?? 0) > 0);
  if (early?.early) return { state: 'unknown', why: whyEarly(event, early, early.early, at) };
  const isDue = related.some(({ calls }) => calls > 0);
  if (!isSilent && !isDue) {
    const rejected = undecided.find(({ tenant }) => tenant === event.tenant);
    if (!rejected || event.arrivedAt >= rejected.since) return { state: 'arrives' };
    return { state: 'unknown', why: WHY.rejected(at(rejected.since)) };
  }
  if (event.tenant === OTHERS || event.eventName === OTHERS)
    return { state: 'unknown', why: WHY.others };
  if (related.some((one) => !one.early || one.early.waitsFor !== undefined))
    return { state: 'quiet' };
  const [first] = periods.get(event.tenant) ?? [];
  const hasWeek = first !== undefined && first.at <= now - WEEK_MS;
  // Of an event that no other one says anything about, only the usual hours tell.
  return hasWeek ? { state: 'quiet' } : { state: 'unknown', why: WHY.short };
}

const WEEK_MS = 7 * 86_400_000;

const WHY = {
  rejected: (since: string) =>
    `Deliveries have failed verification since ${since}, and it has not arrived since. It is too early to tell whether any of them were deliveries of this event.`,
  never: 'No delivery of it has arrived in the last 30 days.',
  others: 'More than 100 tenants or event names are counted together as `*`.',
  short:
    'The log is too short to say whether its silence is normal. It has to cover a week, or the event has to arrive in ten periods of ten minutes beside other events of the same calls.',
};

function whyEarly(
  { arrivedAt }: SeenEvent,
  { other }: DueCalls,
  { arrivals, needed, waiting, waitsFor }: EarlyHistory,
  at: ShowTime,
): string {
  const since = `Since it arrived last, at ${at(arrivedAt)}, ${code(other)} has arrived for ${calls(waiting)} that may lack it.`;
  const history = `It has arrived in ${String(arrivals)} of the ${String(needed)} ten-minute periods that are needed to tell how long is normal`;
  return waitsFor === undefined
    ? `${since} ${history}, and until then a silence of it is not judged.`
    : `${since} ${history}. Until then, its absence is reported only for calls that are older than ${String(waitsFor / 3_600_000)} hours.`;
}
