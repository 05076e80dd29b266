import type { OutcomeCode } from '@call-webhooks/core';
import { counterName, counterParts, type OutcomeRow } from '@call-webhooks/core/stores';
import {
  exactTimes,
  groupedBy,
  readOf,
  REJECTIONS,
  sumOf,
  type Evidence,
  type SeenEvent,
  type Window,
} from './evidence.ts';
import type { Finding } from './findings.ts';
import type { Thresholds } from './thresholds.ts';

const MINUTE_MS = 60_000;
/** Of more tenants, and of older series of rejections, no rows are read. */
const MAX_TENANTS = 10;
const MAX_RUNS = 2;

/** Deliveries of one minute that could not be verified. */
interface Rejected {
  /** When the minute began; milliseconds since the epoch. */
  readonly at: number;
  readonly tenant: string;
  readonly outcome: OutcomeCode;
  readonly count: number;
}

/** Minutes that belong together, the oldest first: a retry comes within the pause between two of them. */
type Run = readonly [Rejected, ...Rejected[]];

type Gathered = Pick<Evidence, 'now' | 'minutes' | 'thresholds'>;

/**
 * Deliveries that could not be verified again and again. A real one is sent again, a single forged one is not;
 * and an event has to be missing since then, before anybody says that it is concerned.
 */
export function findRejected(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const events = groupedBy(seen.values(), ({ tenant }) => tenant);
  const found: Finding[] = [];
  const unknown: Rejected[] = [];
  for (const [tenant, rejected] of groupedBy(rejectedMinutes(evidence), ({ tenant }) => tenant)) {
    const own = events.get(tenant);
    if (own) found.push(...ofTenant(evidence, own, rejected));
    else unknown.push(...rejected);
  }
  return [...found, ...ofUnknownTenants(evidence, unknown, seen.size === 0)];
}

/** Deliveries that failed verification a few minutes ago, and of which no finding says anything. */
export interface Undecided {
  /** Empty without tenants, and for tenants of which no delivery was ever verified. */
  readonly tenant: string;
  readonly since: number;
  readonly count: number;
  readonly outcome: OutcomeCode;
}

/** What is too new to be judged, of each tenant, the tenant with the oldest one first. */
export function undecidedRejections(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
  findings: readonly Finding[],
): readonly Undecided[] {
  const known = new Set([...seen.values()].map(({ tenant }) => tenant));
  const groupOf = ({ tenant }: Pick<Finding, 'tenant'>) => (known.has(tenant) ? tenant : '');
  const judged = new Set(findings.filter(({ kind }) => kind === 'rejected').map(groupOf));
  return [...groupedBy(rejectedMinutes(evidence), groupOf)]
    .filter(([tenant]) => !judged.has(tenant))
    .flatMap(([tenant, rejected]) => {
      const run = recentRun(rejected, evidence);
      if (!run) return [];
      const { since, count, outcome } = summary(evidence, run);
      return { tenant, since, count, outcome };
    })
    .sort((one, other) => one.since - other.since);
}

/** The newest minutes that belong together, if the retry of the last one may still come. */
function recentRun(rejected: readonly Rejected[], evidence: Gathered): Run | undefined {
  const run = runsOf(rejected, evidence.thresholds).at(-1);
  return run && isRecent(endsOf(run)[1], evidence) ? run : undefined;
}

/** The beginning of each series, for the exact time; and its end, where a delivery may have been verified again. */
export function windowsOfRejected(
  evidence: Gathered,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Window[] {
  const { thresholds } = evidence;
  const tenants = new Set([...seen.values()].map(({ tenant }) => tenant));
  return [...groupedBy(rejectedMinutes(evidence), ({ tenant }) => tenant)]
    .filter(([tenant]) => tenants.has(tenant))
    .slice(0, MAX_TENANTS)
    .flatMap(([, rejected]) => {
      const runs = repeatedRuns(rejected, thresholds).slice(-MAX_RUNS);
      const newest = recentRun(rejected, evidence);
      return [
        ...runs.flatMap((run) => [minuteOf(run[0]), endWindow(run, thresholds)]),
        ...(newest ? [minuteOf(newest[0])] : []),
      ];
    });
}

const minuteOf = ({ at }: Rejected): Window => ({ since: at, until: at + MINUTE_MS - 1 });

/** Up to the retry of the last one. */
function endWindow(run: Run, { rejectedRows, rejectedPause }: Thresholds): Window {
  const [first, last] = endsOf(run);
  const since = Math.max(first.at, last.at - rejectedRows);
  return { since, until: last.at + MINUTE_MS + rejectedPause };
}

function rejectedMinutes({ minutes }: Pick<Evidence, 'minutes'>): readonly Rejected[] {
  const found: Rejected[] = [];
  for (const [at, counters] of minutes)
    for (const [name, count] of Object.entries(counters)) {
      const [kind, outcome, tenant = ''] = counterParts(name);
      if (kind === 'rejected') found.push({ at, tenant, outcome: outcome as OutcomeCode, count });
    }
  return found.sort((one, other) => one.at - other.at);
}

const endsOf = (run: Run): readonly [Rejected, Rejected] => [run[0], run.at(-1) ?? run[0]];

function runsOf(rejected: readonly Rejected[], { rejectedPause }: Thresholds): Run[] {
  const runs: [Rejected, ...Rejected[]][] = [];
  for (const one of rejected) {
    const run = runs.at(-1);
    if (run && one.at - (run.at(-1) ?? one).at <= rejectedPause) run.push(one);
    else runs.push([one]);
  }
  return runs;
}

/** Those that go on for as long as a retry takes. */
const repeatedRuns = (rejected: readonly Rejected[], thresholds: Thresholds): Run[] =>
  runsOf(rejected, thresholds).filter((run) => {
    const [first, last] = endsOf(run);
    return last.at - first.at >= thresholds.retriedAfter;
  });

function ofTenant(
  evidence: Evidence,
  own: readonly SeenEvent[],
  rejected: readonly Rejected[],
): readonly Finding[] {
  const tenant = own[0]?.tenant ?? '';
  const end = endOf(evidence, own, rejected);
  const left = end ? rejected.filter(({ at }) => at > end.arrived.at) : rejected;
  const missing = missingEvents(evidence, own, left);
  if (missing) {
    const { run, events } = missing;
    return [
      {
        ...{ what: 'rejected-events', kind: 'rejected', urgent: true, tenant, events },
        eventName: events.length === 1 ? (events[0]?.eventName ?? '') : '',
        ...summary(evidence, run),
      },
    ];
  }
  const going = goingOn(evidence, left, tenant, { isKnown: true });
  if (!end || going.length > 0) return going;
  // A single delivery that is rejected later accuses nobody: it is undecided, as on any other day.
  if (end.missing.length === 0 && !isRecent(endsOf(end.run)[1], evidence)) return [];
  const again = left.filter((one) => isRecent(one, evidence));
  const { eventName, at, secretId = '' } = end.arrived;
  const of = { kind: 'rejected', urgent: false, tenant, eventName: '' } as const;
  const facts = { ended: { eventName, at, secretId }, missing: end.missing };
  const [before, anew] = [summary(evidence, end.run), again[0]];
  if (!anew) return [{ what: 'rejected-ended', ...of, ...before, ...facts, again: 0 }];
  const since = summary(evidence, [anew, ...again.slice(1)]);
  return [{ what: 'rejected-ended', ...of, ...since, ...facts, again: since.count }];
}

/** The events that have not arrived since a series of rejections began, and the oldest of these series. */
function missingEvents(
  evidence: Evidence,
  own: readonly SeenEvent[],
  rejected: readonly Rejected[],
): { run: Run; events: readonly SeenEvent[] } | undefined {
  const { thresholds } = evidence;
  const missing = own.flatMap((event) => {
    const since = rejected.filter(({ at }) => at + MINUTE_MS > event.arrivedAt);
    const [run] = repeatedRuns(since, thresholds);
    return run ? [{ event, from: run[0] }] : [];
  });
  // What arrived in the middle of a series was verified then: only the other events are suspected.
  const suspected = runsOf(rejected, thresholds).flatMap((run) => {
    const within = missing.filter(({ from }) => run.includes(from));
    const earliest = Math.min(...within.map(({ from }) => from.at));
    return within.filter(({ from }) => from.at === earliest);
  });
  const [oldest] = suspected;
  if (!oldest) return undefined;
  const events = suspected.map(({ event }) => event);
  const run = rejected.slice(rejected.indexOf(oldest.from)) as unknown as Run;
  return { run, events: comparable(evidence, events, oldest.from.at) };
}

/** Without those that used to arrive much less often than another one, and are not missed so soon. */
function comparable(
  { arrivals, thresholds }: Evidence,
  events: readonly SeenEvent[],
  before: number,
): readonly SeenEvent[] {
  const counts = events.map(({ eventName, tenant }) => {
    const name = counterName(eventName, tenant);
    return sumOf([...arrivals].map(([at, counters]) => (at < before ? (counters[name] ?? 0) : 0)));
  });
  const most = Math.max(...counts);
  return events.filter((_event, index) => (counts[index] ?? 0) >= most * thresholds.comparable);
}

/** How a series of rejections ended. */
interface End {
  readonly run: Run;
  /** The delivery that was verified, of an event that had not arrived while deliveries were rejected. */
  readonly arrived: Verified;
  /** Events that arrived neither then nor since, although they usually arrive about as often. */
  readonly missing: readonly SeenEvent[];
}

/**
 * The last time that rejections ended: an event that did not arrive during them was verified when the retry of
 * the last one was due. Another delivery may be rejected since, by a second rotation.
 */
function endOf(
  evidence: Evidence,
  own: readonly SeenEvent[],
  rejected: readonly Rejected[],
): End | undefined {
  const { read, thresholds } = evidence;
  const { rejectedPause, retriedAfter } = thresholds;
  let end: End | undefined;
  for (const whole of repeatedRuns(rejected, thresholds)) {
    const [first, last] = endsOf(whole);
    const window = readOf(read, endWindow(whole, thresholds));
    let from = Math.max(first.at, window.since);
    const arrivedNames = new Set<string>();
    for (const arrived of window.rows) {
      if (!isVerified(arrived, own) || arrivedNames.has(arrived.eventName)) continue;
      const run = whole.filter(({ at }) => at >= from && at <= arrived.at);
      const [begun, ...others] = run;
      const ended = run.at(-1);
      // What arrives before the first rejection says nothing about those that follow.
      if (!begun || !ended || arrived.at < summary(evidence, [begun]).since) continue;
      arrivedNames.add(arrived.eventName);
      if (ended.at - begun.at < retriedAfter) continue;
      if (arrived.at - ended.at > rejectedPause + MINUTE_MS) continue;
      const isArrived = ({ eventName }: SeenEvent) => eventName === arrived.eventName;
      const stayedAway = own.filter(
        (event) => isArrived(event) || !arrivedNames.has(event.eventName),
      );
      const usual = comparable(evidence, stayedAway, first.at);
      if (!usual.some(isArrived)) continue;
      const isOver = ended === last && !isRecent(last, evidence);
      if (usual.length > 1 && !isOver) continue;
      const missing = usual.filter(
        (event) => !isArrived(event) && event.arrivedAt < begun.at + MINUTE_MS,
      );
      end = { run: [begun, ...others], arrived, missing };
      from = arrived.at + 1;
      arrivedNames.clear();
    }
  }
  return end;
}

/** A delivery of the service that was verified. */
type Verified = OutcomeRow & { readonly eventName: string };

const isVerified = (row: OutcomeRow, own: readonly SeenEvent[]): row is Verified =>
  row.source === 'webhook' &&
  row.webhookId !== undefined &&
  row.eventName !== undefined &&
  row.late !== true &&
  own.some(({ tenant }) => tenant === (row.tenant ?? ''));

/** A tenant is named by a request that was not verified: anybody can make up any number of them. */
function ofUnknownTenants(
  evidence: Evidence,
  rejected: readonly Rejected[],
  isNew: boolean,
): readonly Finding[] {
  const tenants = new Set(rejected.map(({ tenant }) => tenant));
  const [tenant = ''] = tenants.size === 1 ? tenants : [];
  const unknownTenants = tenants.has('') ? 0 : tenants.size;
  return goingOn(evidence, rejected, tenant, {
    isKnown: !isNew && unknownTenants === 0,
    unknownTenants,
  });
}

/** A series of rejections that has not ended, while every event arrives. */
function goingOn(
  evidence: Evidence,
  rejected: readonly Rejected[],
  tenant: string,
  { isKnown, unknownTenants = 0 }: { isKnown: boolean; unknownTenants?: number },
): readonly Finding[] {
  const run = repeatedRuns(rejected, evidence.thresholds).at(-1);
  if (!run || !isRecent(endsOf(run)[1], evidence)) return [];
  const of = { kind: 'rejected', urgent: false, tenant, eventName: '' } as const;
  return [{ what: 'rejected-only', ...of, ...summary(evidence, run), isKnown, unknownTenants }];
}

/** Whether the retry of a rejected delivery may still come. */
const isRecent = (
  { at }: Rejected,
  { now, thresholds }: Pick<Evidence, 'now' | 'thresholds'>,
): boolean => now - at <= thresholds.rejectedPause + MINUTE_MS;

function summary({ read }: Evidence, run: Run) {
  const [first, last] = endsOf(run);
  const isOne = (row: OutcomeRow) => isRejection(row, first.tenant);
  return {
    since: exactTimes(read, minuteOf(first), isOne).first,
    lastAt: exactTimes(read, minuteOf(last), isOne).last,
    count: sumOf(run.map(({ count }) => count)),
    outcome: last.outcome,
  };
}

const isRejection = ({ outcome, tenant = '' }: OutcomeRow, of: string) =>
  tenant === of && (REJECTIONS as readonly string[]).includes(outcome);
