import type { OutcomeCode, Store } from '@call-webhooks/core';
import {
  COUNTER_SERIES,
  counterName,
  counterParts,
  type OutcomeLog,
  type OutcomeRow,
  type SeenProcess,
} from '@call-webhooks/core/stores';
import { ask, readRows } from './read-rows.ts';
import { isFailure, SETTLING, unsettledOf } from './settled-failures.ts';

/** A stretch of time in which events were missed, and why, as far as the outcome log tells. */
export interface MissReason {
  /**
   * `silence`: no delivery reached any process. `event-silence`: other events arrived, and none of this name and
   * tenant. `rejected`: deliveries arrived that no secret verified. `failed`: deliveries failed before the store knew
   * their events. `single`: others of the same name and tenant arrived at that time. `unknown`: the log does not go
   * back that far, or does not count this tenant or event separately; or, with `outcomes`, the event itself arrived
   * and was verified, and the store has forgotten it.
   */
  kind: 'silence' | 'event-silence' | 'rejected' | 'failed' | 'single' | 'unknown';
  /** Of `event-silence` and `single`. */
  eventName?: string;
  /** How many events were missed. */
  missed: number;
  /** The outcomes of the deliveries of `rejected` and `failed`, and of the event itself that the store has forgotten. */
  outcomes: OutcomeCode[];
  /**
   * When the last delivery before it and the first one after it arrived, in milliseconds since the epoch; `null` if
   * none is known.
   */
  from: number | null;
  until: number | null;
  /** Set if `from` and `until` are known to ten minutes only, because the log no longer has the single deliveries. */
  isAbout?: boolean;
  /**
   * How many deliveries failed in the half hour before a silence, or, before the silence of one event, since it was
   * acknowledged last. Those of events that were handled or became dead letters later are left out: the service pauses
   * a rule after retries. A failure of which the log has no row counts as those of its minute do that have one.
   */
  failedBefore: number;
  /** Of a silence: whether one process was running the whole time. `null` if that is unknown. */
  wasRunning: boolean | null;
}

const MINUTE = 60_000;
const { periodMs: TEN_MINUTES, keptMs: ARRIVALS_KEPT } = COUNTER_SERIES.arrivals;
const { keptMs: MINUTES_KEPT } = COUNTER_SERIES.minutes;
/** More rows say nothing new. */
const MAX_ROWS = 20_000;
/** A share of a number may be a little more than the whole number that it stands for. */
const ROUNDING = 1e-9;
/** Failures so long before a silence may have paused the rule: the service retries every 5 minutes. */
const BEFORE = 30;
/** The webhook of an event comes within so many minutes. */
const SOON = 3;
/** What a process counts beyond its first 100 tenants or event names. */
const OTHERS = '*';

/** No secret fits, or the action has none. A replay, say, is not of a missed event. */
const UNVERIFIED: readonly OutcomeCode[] = ['signature-mismatch', 'missing-header'];
/** Before the store knows an event. One whose handler failed is known, and so it is not missed. */
const UNKNOWN_EVENT: readonly OutcomeCode[] = [
  ...(['timestamp-out-of-tolerance', 'body-timeout', 'body-too-large'] as const),
  ...(['unsupported-encoding', 'body-already-parsed', 'invalid-payload'] as const),
  ...(['overloaded', 'store-unavailable', 'secret-unavailable', 'shutting-down'] as const),
];

type Counters = ReadonlyMap<number, Readonly<Record<string, number>>>;

/** What the log has, of all processes. */
interface Logged {
  /** The counters of all minutes that are kept. */
  readonly minutes: Counters;
  /** Arrivals by ten minutes. */
  readonly arrivals: Counters;
  readonly processes: readonly SeenProcess[];
  /**
   * Which share of the failures is of events that were not acknowledged later, so that a rule may have been paused for
   * them: by minute, and by minute and event name. Of the others, no row is kept.
   */
  readonly unsettled: ReadonlyMap<string, number>;
  /** The oldest first. */
  readonly rows: readonly OutcomeRow[];
  readonly marks: Readonly<Record<string, number>>;
  /** What `arrivalsOf` has found so far: many events are asked for, of few names. */
  readonly found: Map<string, readonly Arrival[]>;
}

/** When the call of a missed event ended; milliseconds since the epoch. */
export interface MissedAt {
  readonly at: number;
  readonly eventName: string;
  /** As the store knows it. */
  readonly key?: string | undefined;
}

/**
 * Reads the outcome log, and tells why events were missed.
 * @param tenant whose calls they are; absent without tenants
 * @param now milliseconds since the epoch
 * @param store knows of events whose later rows the log has left out
 * @returns the reason of each of them; the events of one stretch of time share one object
 */
export async function explainMissed(
  log: OutcomeLog,
  missed: readonly MissedAt[],
  {
    tenant,
    now,
    store = {},
  }: { tenant?: string | undefined; now: number; store?: Pick<Store, 'peek'> | undefined },
): Promise<(missed: MissedAt) => MissReason> {
  // The clock of another process may be ahead.
  const [minute, period] = [Math.floor(now / MINUTE) + 1, Math.floor(now / TEN_MINUTES) + 1];
  const [minutes, arrivals, processes, { rows }, { marks }] = await Promise.all([
    ask('counters', () => log.counts('minutes', minute - MINUTES_KEPT / MINUTE, minute)),
    ask('counters', () => log.counts('arrivals', period - ARRIVALS_KEPT / TEN_MINUTES, period)),
    ask('processes of the log', () => log.processes()),
    readRows(log, { since: now - MINUTES_KEPT }, MAX_ROWS),
    ask('marks of the log', () => log.marks()),
  ]);
  const unsettled = await unsettledOf(rows, store);
  return missReasons(missed, tenant, {
    minutes,
    arrivals,
    processes,
    unsettled,
    rows,
    marks,
    found: new Map(),
  });
}

/**
 * Why events were missed, as far as the log tells: for each stretch of time, what came by webhook when they
 * should have. Only the same event of the same tenant says something about its rule.
 * @param tenant whose calls they are; absent without tenants
 * @returns the reason of each of them; one stretch is one object
 */
function missReasons(
  missed: readonly MissedAt[],
  tenant: string | undefined,
  logged: Logged,
): (missed: MissedAt) => MissReason {
  const busy = [...logged.minutes]
    .filter(([, counts]) => Object.keys(counts).some((name) => name.startsWith('outcome/webhook/')))
    .map(([minute]) => minute)
    .sort((one, other) => one - other);
  const began = Math.min(...logged.processes.map(({ startedAt }) => startedAt));
  const stretches = new Map<string, MissReason>();
  const reasons = new Map<string, MissReason>();
  const idOf = ({ at, eventName, key = '' }: MissedAt) => `${String(at)} ${eventName} ${key}`;
  const outcomesOf = verifiedOutcomes(logged.rows);
  for (const one of [...missed].sort((a, b) => a.at - b.at)) {
    const minute = Math.floor(one.at / MINUTE);
    const from = busy.findLast((before) => before < minute) ?? null;
    const until = busy.find((after) => after >= minute) ?? null;
    const isSilent = until === null || until > minute + SOON;
    const own = isSilent ? silenceOfEvent(one, tenant, logged) : undefined;
    const arrived = outcomesOf.get(one.key ?? '');
    const reason = arrived
      ? reasonOf({ kind: 'unknown', outcomes: [...arrived] })
      : isSilent
        ? (own ?? silence(from, until, logged))
        : (during(one, tenant, logged) ?? amongOthers(ofEvent(one, tenant, logged), busy, logged));
    if (from === null && !(one.at >= began)) Object.assign(reason, { kind: 'unknown' });
    const isStretch = reason.kind === 'silence' || reason.kind === 'event-silence';
    const place = isStretch ? [reason.from, reason.until] : [];
    const key = [reason.kind, reason.eventName, arrived !== undefined, ...place].join();
    const known = stretches.get(key) ?? reason;
    known.missed += 1;
    known.outcomes = [...new Set([...known.outcomes, ...reason.outcomes])];
    if (!isStretch) known.until = (minute + 1) * MINUTE;
    stretches.set(key, known);
    reasons.set(idOf(one), known);
  }
  return (one) => reasons.get(idOf(one)) ?? reasonOf({ kind: 'unknown' });
}

/** What became of the events that arrived and were verified, by their keys. */
function verifiedOutcomes(
  rows: readonly OutcomeRow[],
): ReadonlyMap<string, ReadonlySet<OutcomeCode>> {
  const found = new Map<string, Set<OutcomeCode>>();
  for (const { source, webhookId, key, outcome } of rows)
    if (source === 'webhook' && webhookId !== undefined && key !== undefined)
      found.set(key, (found.get(key) ?? new Set()).add(outcome));
  return found;
}

const reasonOf = (known: Partial<MissReason> & Pick<MissReason, 'kind'>): MissReason => ({
  ...{ missed: 0, outcomes: [], from: null, until: null, failedBefore: 0, wasRunning: null },
  ...known,
});

/** Nothing came to any process. */
function silence(from: number | null, until: number | null, logged: Logged): MissReason {
  const [begin, end] = [
    from === null ? null : from * MINUTE,
    until === null ? null : until * MINUTE,
  ];
  return reasonOf({
    kind: 'silence',
    from: begin,
    until: end,
    failedBefore: from === null ? 0 : failuresOf([from - BEFORE + 1, from], undefined, logged),
    wasRunning: begin === null || end === null ? null : ranAll(begin, end, logged.processes),
  });
}

const ranAll = (begin: number, end: number, processes: readonly SeenProcess[]): boolean =>
  processes.some(({ startedAt, seenAt }) => startedAt <= begin + MINUTE && seenAt >= end);

/** Failures of these minutes whose events were not acknowledged later. @param eventName all by default */
function failuresOf(
  [first, last]: readonly [number, number],
  eventName: string | undefined,
  { minutes, unsettled }: Logged,
): number {
  let failed = 0;
  for (const [minute, counts] of minutes) {
    if (minute < first || minute > last) continue;
    let ofMinute = 0;
    for (const [name, count] of Object.entries(counts)) {
      const [what, source, outcome, event] = counterParts(name);
      const isOwn = eventName === undefined || event === eventName;
      if (what === 'outcome' && source === 'webhook' && isOwn)
        if (isFailure(outcome as OutcomeCode)) ofMinute += count;
    }
    const key = eventName === undefined ? String(minute) : `${String(minute)} ${eventName}`;
    failed += Math.ceil(ofMinute * (unsettled.get(key) ?? 1) - ROUNDING);
  }
  return failed;
}

/** Deliveries that came at that time, and could have been of the missed event. */
function during(
  { at, eventName }: MissedAt,
  tenant: string | undefined,
  { minutes }: Logged,
): MissReason | undefined {
  const minute = Math.floor(at / MINUTE);
  const names = new Set(
    [...minutes].flatMap(([one, counts]) =>
      one >= minute && one <= minute + SOON ? Object.keys(counts) : [],
    ),
  );
  const unverified = UNVERIFIED.filter((code) =>
    // Those of another tenant, and those that name none, say nothing of this one.
    tenant === undefined
      ? names.has(counterName('outcome', 'webhook', code, ''))
      : names.has(counterName('rejected', code, tenant)),
  );
  const failed = UNKNOWN_EVENT.filter((code) =>
    ['', eventName].some((event) => names.has(counterName('outcome', 'webhook', code, event))),
  );
  const outcomes = unverified.length > 0 ? unverified : failed;
  if (outcomes.length === 0) return undefined;
  return reasonOf({
    kind: unverified.length > 0 ? 'rejected' : 'failed',
    outcomes,
    from: minute * MINUTE,
    until: (minute + 1) * MINUTE,
  });
}

/** When an event arrived: exactly, or at some time of ten minutes. */
interface Arrival {
  readonly since: number;
  readonly until: number;
}

/** The events of one name of a tenant, or those of all its other names. */
interface Wanted {
  readonly tenant: string;
  readonly eventName: string;
  readonly isOther?: boolean;
}

/**
 * When events arrived, whether or not they were handled, the oldest first. The log drops single deliveries before it
 * drops counters.
 */
function arrivalsOf(wanted: Wanted, logged: Logged): readonly Arrival[] {
  const id = JSON.stringify(wanted);
  const known = logged.found.get(id);
  if (known) return known;
  const { rows, arrivals, marks } = logged;
  const isOne = (eventName = '', tenant = '') =>
    tenant === wanted.tenant &&
    eventName !== '' &&
    (eventName === wanted.eventName) === !wanted.isOther;
  // Failures are kept longer than other rows.
  const rowsSince = rows.find(({ outcome }) => !isFailure(outcome))?.at ?? Infinity;
  const found: Arrival[] = [];
  for (const { source, eventName, tenant, at } of rows)
    if (source === 'webhook' && isOne(eventName, tenant)) found.push({ since: at, until: at });
  for (const [name, at] of Object.entries(marks)) {
    const [result, tenant, eventName] = counterParts(name);
    const isDelivery = result === 'ack' || result === 'failed';
    if (isDelivery && isOne(eventName, tenant)) found.push({ since: at, until: at });
  }
  for (const [period, counts] of arrivals) {
    const since = period * TEN_MINUTES;
    const isArrived = Object.keys(counts).some((name) => isOne(...counterParts(name)));
    if (since < rowsSince && isArrived)
      found.push({ since, until: Math.min(since + TEN_MINUTES, rowsSince) });
  }
  found.sort((one, other) => one.since - other.since);
  logged.found.set(id, found);
  return found;
}

/** Others came: did any of the same event and tenant? */
function ofEvent({ at, eventName }: MissedAt, tenant = '', logged: Logged): MissReason {
  const own = arrivalsOf({ tenant, eventName }, logged);
  const isBeyond = [...logged.arrivals.values()].some((counts) =>
    [counterName(OTHERS, tenant), counterName(eventName, OTHERS), counterName(OTHERS, OTHERS)].some(
      (name) => name in counts,
    ),
  );
  if (own.length === 0 && isBeyond) return reasonOf({ kind: 'unknown' });
  const before = own.findLast(({ since }) => since <= at);
  const after = own.find(({ until }) => until >= at);
  if (before && after && after.since - before.until <= TEN_MINUTES)
    return reasonOf({ kind: 'single', eventName, from: Math.floor(at / MINUTE) * MINUTE });
  const isAbout = [before, after].some((one) => one && one.since < one.until);
  return reasonOf({
    kind: 'event-silence',
    eventName,
    from: before?.until ?? null,
    until: after?.since ?? null,
    ...(isAbout && { isAbout }),
    failedBefore: before ? failedSinceSuccess(before.until, eventName, tenant, logged) : 0,
  });
}

/** It may have been the last event that arrived before all of them stopped. @param busy minutes with any delivery */
function amongOthers(reason: MissReason, busy: readonly number[], logged: Logged): MissReason {
  if (reason.kind !== 'event-silence' || reason.from === null) return reason;
  const from = Math.floor(reason.from / MINUTE);
  const until = reason.until === null ? null : Math.floor(reason.until / MINUTE);
  const didOthersCome = busy.some((minute) => minute > from && minute < (until ?? Infinity));
  return didOthersCome ? reason : silence(from, until, logged);
}

/** Failures of an event since it was acknowledged last. @param until milliseconds since the epoch */
function failedSinceSuccess(
  until: number,
  eventName: string,
  tenant: string,
  logged: Logged,
): number {
  const success = logged.rows.findLast(
    ({ source, tenant: of = '', eventName: name, outcome, at }) =>
      source === 'webhook' && of === tenant && name === eventName && SETTLING.has(outcome)
        ? at <= until
        : false,
  );
  const last = Math.floor(until / MINUTE);
  const first = success ? Math.floor(success.at / MINUTE) : last - BEFORE + 1;
  return failuresOf([first, last], eventName, logged);
}

/**
 * A silence of one event, in which others came now and then: with little traffic, nothing at all comes for minutes, and
 * that would be told once for each of these pauses.
 */
function silenceOfEvent(missed: MissedAt, tenant = '', logged: Logged): MissReason | undefined {
  const reason = ofEvent(missed, tenant, logged);
  const { kind, from, until } = reason;
  if (kind !== 'event-silence' || from === null) return undefined;
  const others = arrivalsOf({ tenant, eventName: missed.eventName, isOther: true }, logged);
  const didOthersCome = others.some(
    (other) => other.since > from && other.until < (until ?? Infinity),
  );
  return didOthersCome ? reason : undefined;
}
