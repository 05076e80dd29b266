import type { OutcomeCode } from '@call-webhooks/core';
import type { SeenProcess } from '@call-webhooks/core/stores';
import type { MissReason } from './api-types.ts';
import { sourceOf } from './overview.ts';

const MINUTE = 60_000;
/** Failures so long before a silence may have paused the rule: the service retries every 5 minutes. */
const BEFORE = 30;
/** The webhook of an event comes within so many minutes. */
const SOON = 3;

/** No secret fits, or the action has none. A replay, say, is not of a missed event. */
const UNVERIFIED: readonly OutcomeCode[] = ['signature-mismatch', 'missing-header'];
/** Before the store knows an event. One whose handler failed is known, and so it is not missed. */
const UNKNOWN_EVENT: readonly OutcomeCode[] = [
  ...(['timestamp-out-of-tolerance', 'body-timeout', 'body-too-large'] as const),
  ...(['unsupported-encoding', 'body-already-parsed', 'invalid-payload'] as const),
  ...(['overloaded', 'store-unavailable', 'secret-unavailable', 'shutting-down'] as const),
];

/** What the log has, of all processes. */
export interface Logged {
  /** The counters of all minutes that are kept. */
  readonly minutes: ReadonlyMap<number, Readonly<Record<string, number>>>;
  readonly processes: readonly SeenProcess[];
  /** Failures of each minute whose events were acknowledged later, so that no rule was paused for them. */
  readonly settled: ReadonlyMap<number, number>;
}

/**
 * Why events were missed, as far as the log tells: for each stretch of time, what came to any process
 * by webhook when they should have.
 * @param times when the calls of the missed events ended; milliseconds since the epoch
 * @returns the reason for each time; one stretch is one object
 */
export function missReasons(times: readonly number[], logged: Logged): Map<number, MissReason> {
  const webhooks = new Map(
    [...logged.minutes]
      .map(([minute, counts]) => [minute, sourceOf([counts], 'webhook')] as const)
      .filter(([, { total }]) => total > 0)
      .sort(([one], [other]) => one - other),
  );
  const busy = [...webhooks.keys()];
  const began = Math.min(...logged.processes.map(({ startedAt }) => startedAt));
  const stretches = new Map<string, MissReason>();
  const reasons = new Map<number, MissReason>();
  for (const time of [...times].sort((one, other) => one - other)) {
    const minute = Math.floor(time / MINUTE);
    const from = busy.findLast((one) => one < minute) ?? null;
    const until = busy.find((one) => one >= minute) ?? null;
    const isSilent = until === null || until > minute + SOON;
    const reason = isSilent
      ? silence(from, until, webhooks, logged)
      : during(minute, minute + SOON, webhooks);
    if (from === null && !(time >= began)) Object.assign(reason, { kind: 'unknown' });
    const key = [reason.kind, isSilent ? from : '', isSilent ? until : ''].join();
    const known = stretches.get(key) ?? reason;
    known.missed += 1;
    known.outcomes = [...new Set([...known.outcomes, ...reason.outcomes])];
    if (!isSilent) known.until = (minute + 1) * MINUTE;
    stretches.set(key, known);
    reasons.set(time, known);
  }
  return reasons;
}

type Webhooks = ReadonlyMap<number, ReturnType<typeof sourceOf>>;

function silence(
  from: number | null,
  until: number | null,
  webhooks: Webhooks,
  { processes, settled }: Logged,
): MissReason {
  let failedBefore = 0;
  if (from !== null)
    for (const [minute, { results }] of webhooks)
      if (minute > from - BEFORE && minute <= from)
        failedBefore += Math.max(0, results.failed - (settled.get(minute) ?? 0));
  const [begin, end] = [
    from === null ? null : from * MINUTE,
    until === null ? null : until * MINUTE,
  ];
  const wasRunning = processes.some(
    ({ startedAt, seenAt }) => startedAt <= (begin ?? 0) + MINUTE && end !== null && seenAt >= end,
  );
  return {
    ...{ kind: 'silence', missed: 0, outcomes: [] },
    ...{ from: begin, until: end, failedBefore },
    wasRunning: begin === null || end === null ? null : wasRunning,
  };
}

function during(from: number, to: number, webhooks: Webhooks): MissReason {
  const came = [...webhooks].filter(([minute]) => minute >= from && minute <= to);
  const found = (codes: readonly OutcomeCode[]) =>
    codes.filter((code) => came.some(([, { outcomes }]) => outcomes[code] !== undefined));
  const unverified = found(UNVERIFIED);
  const failed = found(UNKNOWN_EVENT);
  return {
    kind: unverified.length > 0 ? 'rejected' : failed.length > 0 ? 'failed' : 'single',
    missed: 0,
    outcomes: unverified.length > 0 ? unverified : failed,
    from: from * MINUTE,
    until: (from + 1) * MINUTE,
    failedBefore: 0,
    wasRunning: null,
  };
}
