import type { CallRecord } from '@call-webhooks/client';
import { WebhookError } from '@call-webhooks/core';
import { docsUrl } from '@call-webhooks/core/internal';
import { loadCursor, passesOf, type Pass } from './cursor.ts';
import { deliverCall } from './deliver-call.ts';
import { inParallel } from './in-parallel.ts';
import { resolveOptions, type ReconcileOptions, type ReconcileSettings } from './options.ts';
import { ListOrder, pagesOf } from './pages.ts';
import { emptyResult, Totals, type ReconcileResult } from './result.ts';
import { beganAt } from './to-events.ts';
import { checkWindow, rememberedSince, SETTLE_FOR_MS, type Window } from './window.ts';

/**
 * Finds calls whose events never came, and delivers those events to the handlers. Events that the store
 * knows are left alone, and a webhook that comes later is a duplicate.
 *
 * What happened in the last 10 minutes is left alone too, unless you pass `until`: its webhook may still
 * come, with more data than the event that is made here.
 *
 * It keeps a cursor in the store, and a run that was interrupted is continued by the next one of the same
 * `name`. Events that failed are not skipped by it: once a run has ended, the next one begins at `since`
 * and finds them again.
 * @throws WebhookError `invalid-options`, above all for a window that is longer than the store remembers;
 *   `overloaded`, `shutting-down` or `store-unavailable` if the receiver can take no events now
 * @throws ClientError if the service can't be asked
 * @throws the reason of `signal`
 * @example
 * const hook = callWebhooks({ secret, store, on });
 * const since = new Date(Date.now() - 12 * 3_600_000);
 * const { missed, handled } = await reconcile({ client, receiver: hook.receiver, since });
 */
export async function reconcile(options: ReconcileOptions): Promise<ReconcileResult> {
  const settings = resolveOptions(options);
  const { store, name, now } = settings;
  const window = { since: settings.since.getTime(), until: untilOf(settings) };
  checkWindow(window, store.rememberFor, now());
  const saved = await loadCursor(store, name);
  const passes = passesOf(window, saved);
  const isContinued = passes[0].next !== undefined;
  const totals = new Totals(
    isContinued && saved ? saved.result : emptyResult(),
    settings.onProgress,
  );
  for (const pass of passes) await runPass(pass, window, settings, totals);
  await store.saveCursor?.(name);
  return totals.result;
}

const untilOf = ({ until, now }: ReconcileSettings) =>
  Math.min(until?.getTime() ?? now() - SETTLE_FOR_MS, now());

async function runPass(
  pass: Pass,
  window: Window,
  settings: ReconcileSettings,
  totals: Totals,
): Promise<void> {
  const { store, name, concurrency, signal } = settings;
  const order = new ListOrder();
  let isDated = false;
  for await (const { results, next } of pagesOf(settings, pass)) {
    const dated = datedCalls(results, settings);
    isDated ||= dated.length > 0;
    if (!isDated && results.length > 0) throw withoutTimes(settings);
    for (let undated = results.length - dated.length; undated > 0; undated--) totals.add('skipped');

    const inWindow = dated.filter(({ began }) => began >= pass.since && began < pass.until);
    await inParallel(inWindow, concurrency, async ({ call, began }) => {
      signal?.throwIfAborted();
      totals.add('seen');
      // Time goes on during a run.
      if (began < rememberedSince(store.rememberFor ?? 0, settings.now())) totals.add('skipped');
      else await deliverCall(call, new Date(window.until), settings, totals);
      totals.tell();
    });
    signal?.throwIfAborted();
    const times = dated.map(({ began }) => began);
    if (next === undefined || order.isPast(times, pass.since)) return;
    const cursor = { since: window.since, until: pass.until, next, result: totals.result };
    await store.saveCursor?.(name, JSON.stringify(cursor));
  }
}

interface DatedCall {
  readonly call: CallRecord;
  /** Milliseconds since the epoch. */
  readonly began: number;
}

const datedCalls = (calls: readonly CallRecord[], { fieldNames }: ReconcileSettings): DatedCall[] =>
  calls.flatMap((call) => {
    const began = beganAt(call, fieldNames);
    return began === undefined ? [] : [{ call, began }];
  });

const withoutTimes = ({ fieldNames }: ReconcileSettings): WebhookError =>
  new WebhookError(
    'invalid-options',
    `reconcile: no call record has a time in ${fieldNames.createdAt ?? 'createdAt'} or ${fieldNames.dialedAt ?? 'startedAt'}, so nobody can tell when the calls began. Set fieldNames.createdAt to the field that says so.`,
    { docs: docsUrl('recovery.md#reconcile') },
  );
