import { waitAtMost } from '@call-webhooks/core/internal';
import { reconcile } from '../reconcile/reconcile.ts';
import { LEASE_MS, withLease } from './lease.ts';
import { resolveOptions, type ReconcilerOptions, type ReconcilerSettings } from './options.ts';
import { MissedCalls, reportError, reportRun } from './report.ts';
import { firstState, loadState, nextWindow, saveState } from './state.ts';

/** A reconciler that runs by itself until it is closed. */
export interface Reconciler {
  /**
   * Stops after the events that are being handled, and waits for them. The next run, of any process,
   * goes on there. Never rejects.
   * @param options.graceMs milliseconds to wait; 10,000 by default
   */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Runs `reconcile` at once, and again after each `every` milliseconds, in one of all processes that do so
 * with the same store and `name`. After a run that found events which no delivery had come for, it calls `onMissed` and logs
 * that the rule may be paused.
 * @throws WebhookError `invalid-options`
 * @example
 * const reconciler = startReconciler({
 *   client,
 *   receiver: hook.receiver,
 *   onMissed: ({ missed }) => alert(`${missed} call events were missed`),
 * });
 * process.once('SIGTERM', () => reconciler.close());
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

/** @returns milliseconds until somebody has to look again */
async function runIfDue(settings: ReconcilerSettings, closing: AbortSignal): Promise<number> {
  const { store, stateName: name, clock, every } = settings;
  const untilDue = async () => {
    const ranAt = (await loadState(store, name))?.ranAt ?? -Infinity;
    return Math.min(every, ranAt + every - clock.now());
  };
  const wait = await untilDue();
  if (wait > 0) return wait;
  const isMine = await withLease(store, name, clock, async (lost) => {
    // Another process may have run it since.
    if ((await untilDue()) <= 0) await run(settings, AbortSignal.any([closing, lost]));
  });
  return isMine ? Math.max(1, await untilDue()) : Math.min(LEASE_MS, every);
}

async function run(settings: ReconcilerSettings, signal: AbortSignal): Promise<void> {
  const { store, stateName: name, clock, onEvent } = settings;
  const now = clock.now();
  const known = (await loadState(store, name)) ?? firstState(settings, now);
  if (known.ranAt === undefined) await saveState(store, name, known); // this run may not end
  const window = nextWindow(known, settings, now);
  const save = (doneUntil: number) => saveState(store, name, { ...known, doneUntil, ranAt: now });
  if (window.since >= window.until) return save(known.doneUntil);

  const missed = new MissedCalls();
  try {
    const result = await reconcile({
      ...shared(settings),
      since: new Date(window.since),
      until: new Date(window.until),
      signal,
      now: () => clock.now(),
      onEvent(event) {
        if (event.missed) missed.add(event.callId);
        return onEvent?.(event);
      },
    });
    // What failed is looked at again.
    await save(result.failed === 0 ? window.until : known.doneUntil);
    reportRun(settings, window, result, missed);
  } catch (error) {
    // Not by another process at once: it would fail as well.
    if (!signal.aborted) await save(known.doneUntil);
    throw error;
  }
}

function shared(settings: ReconcilerSettings) {
  const { client, receiver, store, tenant, name, toEvents, recordings, fieldNames } = settings;
  const { query, pageSize, concurrency } = settings;
  return {
    client,
    receiver,
    store,
    tenant,
    name,
    toEvents,
    recordings,
    fieldNames,
    query,
    pageSize,
    concurrency,
  };
}
