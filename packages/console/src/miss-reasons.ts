import type { OutcomeCode } from '@call-webhooks/core';
import {
  COUNTER_SERIES,
  counterName,
  counterParts,
  type OutcomeLog,
  type SeenProcess,
} from '@call-webhooks/core/stores';
import type { MissReason } from './api-types.ts';
import { resultOf } from './results.ts';

const MINUTE = 60_000;
const { periodMs: TEN_MINUTES, keptMs: ARRIVALS_KEPT } = COUNTER_SERIES.arrivals;
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
   * Failures whose events were acknowledged later, so that no rule was paused for them: by minute, and by
   * minute and event name.
   */
  readonly settled: ReadonlyMap<string, number>;
}

/** When the call of a missed event ended; milliseconds since the epoch. */
export interface MissedAt {
  readonly at: number;
  readonly eventName: string;
}

/** The arrivals of 8 days. */
export const arrivalsOf = (log: OutcomeLog, now: number): Promise<Counters> =>
  log.counts(
    'arrivals',
    Math.floor((now - ARRIVALS_KEPT) / TEN_MINUTES),
    Math.floor(now / TEN_MINUTES) + 1,
  );

/**
 * Why events were missed, as far as the log tells: for each stretch of time, what came by webhook when they
 * should have. Only the same event of the same tenant says something about its rule.
 * @param tenant whose calls they are; absent without tenants
 * @returns the reason of each of them; one stretch is one object
 */
export function missReasons(
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
  const idOf = ({ at, eventName }: MissedAt) => `${String(at)} ${eventName}`;
  for (const one of [...missed].sort((a, b) => a.at - b.at)) {
    const minute = Math.floor(one.at / MINUTE);
    const from = busy.findLast((before) => before < minute) ?? null;
    const until = busy.find((after) => after >= minute) ?? null;
    const isSilent = until === null || until > minute + SOON;
    const reason = isSilent
      ? silence(from, until, logged)
      : (during(one, tenant, logged) ?? ofEvent(one, tenant, logged));
    if (from === null && !(one.at >= began)) Object.assign(reason, { kind: 'unknown' });
    const isStretch = reason.kind === 'silence' || reason.kind === 'event-silence';
    const place = isStretch ? [reason.from, reason.until] : [];
    const key = [reason.kind, reason.eventName, ...place].join();
    const known = stretches.get(key) ?? reason;
    known.missed += 1;
    known.outcomes = [...new Set([...known.outcomes, ...reason.outcomes])];
    if (!isStretch) known.until = (minute + 1) * MINUTE;
    stretches.set(key, known);
    reasons.set(idOf(one), known);
  }
  return (one) => reasons.get(idOf(one)) ?? reasonOf({ kind: 'unknown' });
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

/** Failures of these minutes, without those that were settled. @param eventName all by default */
function failuresOf(
  [first, last]: readonly [number, number],
  eventName: string | undefined,
  { minutes, settled }: Logged,
): number {
  let failed = 0;
  for (const [minute, counts] of minutes) {
    if (minute < first || minute > last) continue;
    let ofMinute = 0;
    for (const [name, count] of Object.entries(counts)) {
      const [what, source, outcome, event] = counterParts(name);
      const isOwn = eventName === undefined || event === eventName;
      if (what === 'outcome' && source === 'webhook' && isOwn)
        if (resultOf(outcome as OutcomeCode) === 'failed') ofMinute += count;
    }
    const key = eventName === undefined ? String(minute) : `${String(minute)} ${eventName}`;
    failed += Math.max(0, ofMinute - (settled.get(key) ?? 0));
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

/** Others came: did any of the same event and tenant? */
function ofEvent({ at, eventName }: MissedAt, tenant = '', logged: Logged): MissReason {
  const own = counterName(eventName, tenant);
  const periods = [...logged.arrivals]
    .filter(([, counts]) => own in counts)
    .map(([period]) => period)
    .sort((one, other) => one - other);
  const isBeyond = [...logged.arrivals.values()].some((counts) =>
    [counterName(OTHERS, tenant), counterName(eventName, OTHERS), counterName(OTHERS, OTHERS)].some(
      (name) => name in counts,
    ),
  );
  if (periods.length === 0 && isBeyond) return reasonOf({ kind: 'unknown' });
  const period = Math.floor(at / TEN_MINUTES);
  const before = periods.findLast((one) => one <= period);
  const after = periods.find((one) => one >= period);
  const isNear = before !== undefined && after !== undefined && after - before <= 1;
  if (isNear)
    return reasonOf({ kind: 'single', eventName, from: Math.floor(at / MINUTE) * MINUTE });
  const from = before === undefined ? null : (before + 1) * TEN_MINUTES;
  return reasonOf({
    kind: 'event-silence',
    eventName,
    from,
    until: after === undefined ? null : after * TEN_MINUTES,
    // Since one of it was acknowledged last.
    failedBefore:
      before === undefined
        ? 0
        : failuresOf([before * 10, Math.floor(at / MINUTE)], eventName, logged),
  });
}
