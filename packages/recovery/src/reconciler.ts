import {
  callHook,
  docsUrl,
  loggedError,
  safeLogger,
  waitAtMost,
} from '@call-webhooks/core/internal';
import { CLOCK_DIFFERENCE_MS, knowsNothing, type Window } from './cursor.ts';
import { keepLease } from './lease.ts';
import type { ReconcileResult } from './reconcile-options.ts';
import { reconcile } from './reconcile.ts';
import {
  resolveOptions,
  type ReconcilerOptions,
  type ReconcilerSettings,
} from './reconciler-options.ts';
import { reportsName, withReport } from './status/reconcile-report.ts';
import { persistently, type Persistence, type StoreRetry } from './store-calls.ts';

/** A running reconciler, as `startReconciler` returns it. */
export interface Reconciler {
  /**
   * Starts no other run, and waits for the events that are being handled. The next run, of any process, continues
   * where this one stopped. Never rejects.
   * @param options.graceMs how long to wait at most, in milliseconds; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Runs `reconcile` at once, and again every `every` milliseconds (15 minutes by default). Of all processes that share
 * a store and use the same `name` and `tenant`, one runs it at a time. After a run that found events for which no
 * delivery had arrived, it calls `onMissed` and logs that a rule may be paused. A run that fails is logged, and the
 * next one follows after the usual interval.
 * @returns at once; close the reconciler when the process shuts down
 * @throws WebhookError `invalid-options`, also for a store without `loadCursor` and `saveCursor`
 * @example
 * const reconciler = startReconciler({
 *   client,
 *   receiver: hook.receiver,
 *   onMissed: ({ missed }) => alert(`${missed} call events were missed`),
 * });
 * closeOnSignal(reconciler, { resources: [hook.receiver] });
 */
export function startReconciler(options: ReconcilerOptions): Reconciler {
  const settings = resolveOptions(options);
  const { clock, every } = settings;
  const closing = new AbortController();
  let cancel: (() => void) | undefined;
  let running = tick();

  async function tick(): Promise<void> {
    let wait = every;
    try {
      wait = await runIfDue(settings, closing.signal);
    } catch (error) {
      if (!closing.signal.aborted) reportError(settings, error);
    }
    if (closing.signal.aborted) return;
    cancel = clock.schedule(wait, () => {
      running = tick();
    });
  }

  return {
    async close({ graceMs = 10_000 } = {}) {
      closing.abort(new Error('The reconciler is closing.'));
      cancel?.();
      await waitAtMost(graceMs, running);
    },
  };
}

/** @returns milliseconds until the next look */
async function runIfDue(settings: ReconcilerSettings, closing: AbortSignal): Promise<number> {
  const { clock, every } = settings;
  const untilDue = async () => {
    const { ranAt = -Infinity } = await loadSchedule(settings, closing);
    return Math.min(every, ranAt + every - clock.now());
  };
  const wait = await untilDue();
  if (wait > 0) return wait;
  const isMine = await withLease(settings, closing, async (lost) => {
    // Another process may have run it since.
    if ((await untilDue()) <= 0) await run(settings, AbortSignal.any([closing, lost]));
  });
  return isMine ? Math.max(1, await untilDue()) : Math.min(LEASE_MS, every);
}

/** How long a process that died keeps the others waiting; milliseconds. */
const LEASE_MS = 60_000;

/**
 * Runs something in one process at a time. The lease is that of an event which never happens.
 * @param task its signal is aborted when the lease was lost
 * @returns `false` if another process has the lease
 */
async function withLease(
  settings: ReconcilerSettings,
  closing: AbortSignal,
  task: (lost: AbortSignal) => Promise<void>,
): Promise<boolean> {
  const { store, stateName, clock } = settings;
  const key = `call-webhooks.reconciler.${stateName}`;
  const token = crypto.randomUUID();
  const takenAt = clock.now();
  const replayUntil = takenAt + LEASE_MS;
  const claim = { key, token, webhookId: token, replayUntil, leaseMs: LEASE_MS };
  const persistence = persistenceOf(settings, closing);
  const ask = <T>(method: string, call: () => Promise<T>) =>
    persistently(`${method}() of the store`, call, persistence);
  if ((await ask('admit', () => store.admit(claim))).status !== 'admitted') return false;
  const lease = keepLease({
    extend: () => store.extend(key, token, LEASE_MS),
    leaseMs: LEASE_MS,
    takenAt,
    clock,
    onError: (error) => persistence.onRetry({ error, failures: 1, pauseMs: LEASE_MS / 3 }),
  });
  try {
    await task(lease.lost);
    return true;
  } finally {
    await lease.stop();
    // Otherwise it ends by itself, and the log has why.
    await ask('release', () => store.release(key, token)).catch(() => undefined);
  }
}

/** How calls of the store are repeated. The first failure of each call is logged. */
function persistenceOf({ clock, tenant, logger }: ReconcilerSettings, signal: AbortSignal) {
  const onRetry = ({ error, failures }: StoreRetry) => {
    if (failures > 1) return;
    const { text, err } = loggedError(error);
    safeLogger(logger).warn(
      { ...(tenant !== undefined && { tenant }), err, docs: docsUrl('recovery.md#on-a-schedule') },
      `call-webhooks: a call of the store failed during a reconcile run and will be retried: ${text}`,
    );
  };
  return { clock, signal, onRetry };
}

/** Reconciles once, and keeps how far it came. */
async function run(settings: ReconcilerSettings, signal: AbortSignal): Promise<void> {
  const { clock, settleFor, lookBack, shared, store } = settings;
  const persistence = persistenceOf(settings, signal);
  const now = clock.now();
  const schedule = await loadSchedule(settings, signal);
  const { ranAt, isAhead, from = settings.since?.getTime() ?? now, doneUntil = from } = schedule;
  const save = (changes: Schedule) =>
    persistently(
      'saveCursor() of the store',
      () =>
        store.saveCursor(scheduleName(settings), JSON.stringify({ from, doneUntil, ...changes })),
      persistence,
    );
  const remembered = now - (store.rememberFor ?? Infinity);
  const since = Math.max(from, remembered, Math.min(doneUntil, now - lookBack));
  const window = { since, until: now - settleFor };
  if (isAhead) warnOfClock(settings, since);
  if (ranAt === undefined) await save({}); // this run may not end
  if (window.since >= window.until) return save({ ranAt: now });

  const callIds = new Set<string>();
  const missed = new Map<string, number>();
  try {
    const result = await reconcile({
      ...shared,
      since: new Date(window.since),
      until: new Date(window.until),
      signal,
      clock,
      onRetry: persistence.onRetry,
      onEvent(event) {
        if (event.missed) {
          const { eventName } = event.event;
          if (callIds.size < MAX_CALL_IDS) callIds.add(event.callId);
          if (missed.has(eventName) || missed.size < MAX_EVENT_NAMES)
            missed.set(eventName, (missed.get(eventName) ?? 0) + 1);
        }
        return shared.onEvent?.(event);
      },
    });
    reportRun(settings, window, result, [...callIds]);
    await saveReport(settings, window, missed, persistence);
    // What failed is looked at again.
    await save({ ranAt: now, ...(result.failed === 0 && { doneUntil: window.until }) });
  } catch (error) {
    // Not by another process at once: it would fail as well.
    if (!signal.aborted) await save({ ranAt: now });
    throw error;
  }
}

/** Keeps what was found, for `status`. */
async function saveReport(
  { store, tenant, name, dryRun, clock }: ReconcilerSettings,
  { since, until }: Window,
  found: ReadonlyMap<string, number>,
  persistence: Persistence,
): Promise<void> {
  const cursor = reportsName(tenant);
  const missed = Object.fromEntries(found);
  const report = { tenant, name, at: clock.now(), since, until, dryRun, missed };
  await persistently(
    'saveCursor() of the store',
    async () => store.saveCursor(cursor, withReport(await store.loadCursor(cursor), report)),
    persistence,
  );
}

/** What the processes of one reconciler know together; milliseconds since the epoch. */
interface Schedule {
  /** When the first of them was started: no run looks at calls from before. */
  from?: number;
  /** Everything that happened before is done. */
  doneUntil?: number;
  /** When the last run began. */
  ranAt?: number;
}

const scheduleName = ({ stateName }: ReconcilerSettings) => `${stateName}/schedule`;

/**
 * What cannot be read counts as unknown. So does a time in the future, of a process whose clock was ahead:
 * until that time nothing would run.
 */
async function loadSchedule(
  settings: ReconcilerSettings,
  signal: AbortSignal,
): Promise<Schedule & { isAhead: boolean }> {
  const text = await persistently(
    'loadCursor() of the store',
    () => settings.store.loadCursor(scheduleName(settings)),
    persistenceOf(settings, signal),
  );
  const saved = parsed(text);
  const latest = settings.clock.now() + CLOCK_DIFFERENCE_MS;
  const times = Object.entries(saved).filter(([, time]) => typeof time === 'number');
  const past = times.filter(([, time]) => time <= latest);
  return { ...Object.fromEntries(past), isAhead: past.length < times.length };
}

function parsed(text = '{}'): Record<string, number> {
  try {
    return Object(JSON.parse(text)) as Record<string, number>;
  } catch {
    return {};
  }
}

function warnOfClock({ tenant, logger }: ReconcilerSettings, since: number): void {
  safeLogger(logger).warn(
    {
      ...(tenant !== undefined && { tenant }),
      since: new Date(since),
      docs: docsUrl('recovery.md#on-a-schedule'),
    },
    'call-webhooks: the saved schedule of the reconciler has a time in the future, so the clock of a process was ahead. That time is ignored, and this run looks at calls that began at `since` or later. Synchronize the clocks of your machines (NTP).',
  );
}

const MAX_CALL_IDS = 20;
const MAX_EVENT_NAMES = 20;

/** Nothing was run. Otherwise, every event of another account or tenant would have been run. */
const DOUBT =
  ' The store knows none of the events of these calls: check that the client lists the calls of this receiver, and that the tenant is right.';

/** Tells of a run: to the hooks, and in a log line if something is wrong. */
function reportRun(
  { tenant, dryRun, onMissed, onRun, logger }: ReconcilerSettings,
  window: Window,
  result: ReconcileResult,
  callIds: string[],
): void {
  const [since, until] = [new Date(window.since), new Date(window.until)];
  const log = safeLogger(logger);
  const of = tenant === undefined ? {} : { tenant };
  const { missed, failed } = result;
  if (missed > 0) {
    const docs = docsUrl('recovery.md#when-events-go-missing');
    const doubt = dryRun && knowsNothing(result) ? DOUBT : '';
    log.error(
      { ...of, ...result, since, until, callIds, docs },
      `call-webhooks: no delivery arrived for ${missed === 1 ? '1 event' : `${String(missed)} events`} of the service's calls.${dryRun ? ' This is a dry run, so nothing was run.' : ''} A rule may be paused. Look at your rules in the service's web application, under Rules.${doubt}`,
    );
    if (onMissed) callHook(onMissed, { missed, callIds, since, until, result: { ...result } });
  }
  if (failed > 0)
    log.warn(
      { ...of, failed, since, until, docs: docsUrl('recovery.md#events-that-fail-during-a-run') },
      dryRun
        ? `call-webhooks: ${failed === 1 ? '1 event has failed and was' : `${String(failed)} events have failed and were`} not handled so far. This is a dry run, so nothing was run.`
        : `call-webhooks: ${failed === 1 ? '1 event' : `${String(failed)} events`} that had been missed, or had failed earlier, failed in this run. The next run runs ${failed === 1 ? 'it' : 'them'} again, unless ${failed === 1 ? 'it is a dead letter' : 'they are dead letters'} now.`,
    );
  if (onRun) callHook(onRun, { ...result });
}

/** Tells of a run that ended with an error. */
function reportError({ tenant, onError, logger }: ReconcilerSettings, error: unknown): void {
  const { text, err } = loggedError(error);
  safeLogger(logger).error(
    { ...(tenant !== undefined && { tenant }), err, docs: docsUrl('recovery.md#on-a-schedule') },
    `call-webhooks: the reconcile failed. The next one runs after the usual interval: ${text}`,
  );
  if (onError) callHook(onError, error);
}
