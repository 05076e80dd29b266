import type { OutcomeCode } from '@call-webhooks/core';
import { withRedactedIds } from '@call-webhooks/core/internal';
import type { SeenProcess } from '@call-webhooks/core/stores';
import { reconcile, type ReconciledEvent, SETTLE_FOR_MS } from '@call-webhooks/recovery';
import { nothingReconciled } from '@call-webhooks/recovery/internal';
import type { MissReason, ReconcileTask } from './api-types.ts';
import type { DeliveryReader } from './deliveries.ts';
import { invalid, RequestError } from './http/answer.ts';
import type { ConsoleReconcile, ConsoleSettings } from './options.ts';
import { type OverviewReader, sourceOf } from './overview.ts';
import type { ReconcileRequest } from './requests.ts';

const MAX_TO_RUN = 200;
const MAX_OTHERS = 50;

/**
 * What a run has before it begins.
 * @throws RequestError `invalid-request` if the store knows nothing of the window, or cannot tell it
 */
export function newReconcile(
  { dryRun, since: askedSince, until: asked }: ReconcileRequest,
  before: ReconcileTask | null,
  { receiver, reconcile: options, clock }: ConsoleSettings,
) {
  const now = clock.now();
  const until = Math.min(asked ?? now - SETTLE_FOR_MS, now);
  if (askedSince >= until)
    throw invalid('since: expected a time before until, which is 10 minutes ago by default');
  // What was handled before would look missed, and would be run again.
  const { rememberFor, peek } = options?.store ?? receiver.store;
  if (dryRun && !peek)
    throw new RequestError(
      'invalid-request',
      'The store has no peek(), so nobody can tell which events it knows: there is no dry run.',
    );
  const tenant = options?.tenant;
  if (receiver.hasTenants && tenant === undefined)
    throw new RequestError(
      'not-configured',
      'This receiver has tenants, and nobody knows whose calls the client lists. Pass reconcile: { client, tenant } to createConsole.',
    );
  const knownSince = rememberFor === undefined ? -Infinity : Math.ceil(now - rememberFor);
  const since = Math.max(askedSince, knownSince);
  if (since > askedSince && since >= until) throw nothingKnown(now, since, until);
  return {
    dryRun,
    since,
    until,
    ...(since > askedSince && { askedSince }),
    ...(tenant !== undefined && { tenant }),
    counts: nothingReconciled(),
    events: [],
    reasons: !dryRun && before?.dryRun && before.until === until ? before.reasons : [],
  };
}

/** Rejects with what `reconcile` rejects with. */
export async function runReconcile(
  task: ReconcileTask,
  signal: AbortSignal,
  settings: ConsoleSettings & { reconcile: ConsoleReconcile },
  { overview, deliveries }: { overview: OverviewReader; deliveries: DeliveryReader },
): Promise<void> {
  const { dryRun } = task;
  const { receiver, clock } = settings;
  const missedAt: number[] = [];
  let [toRun, others] = [0, 0];
  const onEvent = ({ callId, event, at, outcome, state, missed }: ReconciledEvent) => {
    if (missed) missedAt.push(at.getTime());
    const isToRun = missed || state === 'failed';
    if (isToRun) toRun += 1;
    else others += 1;
    if (isToRun ? toRun > MAX_TO_RUN : others > MAX_OTHERS) return;
    task.events.push({
      ...withRedactedIds({ callId, eventName: event.eventName }),
      at: at.getTime(),
      missed,
      ...(state && { state }),
      ...(outcome && { outcome }),
    });
  };
  task.counts = await reconcile({
    ...settings.reconcile,
    receiver,
    // Not the cursor of a reconciler that runs by itself.
    name: 'console',
    since: new Date(task.since),
    until: new Date(task.until),
    dryRun,
    clock,
    onEvent,
    signal,
    onProgress: (result) => (task.counts = result),
  });
  const { log } = receiver.store;
  if (dryRun && log && missedAt.length > 0) {
    const [minutes, processes, settled] = await Promise.all([
      overview.counts(log, clock.now()),
      log.processes(),
      deliveries.settledFailures(),
    ]);
    const reasons = missReasons(missedAt, { minutes, processes, settled });
    task.reasons = [...new Set(reasons.values())];
    for (const event of task.events) {
      const reason = event.missed ? reasons.get(event.at) : undefined;
      if (reason) event.reason = reason.kind;
    }
  }
}

const nothingKnown = (now: number, since: number, until: number) => {
  const ago = (time: number) => `${Math.ceil((now - time) / 60_000)} min ago`;
  return new RequestError(
    'invalid-request',
    `There is nothing to look at: the window ends ${ago(until)}, and the store knows nothing from before ${ago(since)}. Try again later.`,
  );
};

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
interface Logged {
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
function missReasons(times: readonly number[], logged: Logged): Map<number, MissReason> {
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
    kind: 'silence',
    missed: 0,
    outcomes: [],
    from: begin,
    until: end,
    failedBefore,
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
