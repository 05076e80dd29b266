import { eventKey } from '@call-webhooks/core';
import { tenantKey, withRedactedIds } from '@call-webhooks/core/internal';
import { reconcile, type ReconciledEvent, SETTLE_FOR_MS } from '@call-webhooks/recovery';
import {
  explainMissed,
  type MissedAt,
  missReasonText,
  nothingReconciled,
} from '@call-webhooks/recovery/internal';
import type { ReconcileTask } from './api-types.ts';
import { invalid, RequestError } from './http/answer.ts';
import type { ConsoleReconcile, ConsoleSettings } from './options.ts';
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
      'A dry run is not possible, because the store has no peek() to look up events with.',
    );
  const tenant = options?.tenant;
  if (receiver.hasTenants && tenant === undefined)
    throw new RequestError(
      'not-configured',
      'This receiver has tenants, and the console does not know whose calls the client lists. Pass reconcile: { client, tenant } to createConsole.',
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
): Promise<void> {
  const { dryRun, tenant } = task;
  const { receiver, clock } = settings;
  const missed: MissedAt[] = [];
  const listed = new Map<ReconcileTask['events'][number], MissedAt>();
  let [toRun, others] = [0, 0];
  const onEvent = ({ callId, event, at, outcome, state, missed: isMissed }: ReconciledEvent) => {
    const key = tenantKey(tenant, eventKey(event) ?? '');
    const one: MissedAt = { at: at.getTime(), eventName: event.eventName, key };
    if (isMissed) missed.push(one);
    const isToRun = isMissed || state === 'failed';
    if (isToRun) toRun += 1;
    else others += 1;
    if (isToRun ? toRun > MAX_TO_RUN : others > MAX_OTHERS) return;
    const shown: ReconcileTask['events'][number] = {
      ...withRedactedIds({ callId, eventName: event.eventName }),
      at: at.getTime(),
      missed: isMissed,
      ...(state && { state }),
      ...(outcome && { outcome }),
    };
    task.events.push(shown);
    if (isMissed) listed.set(shown, one);
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
  if (dryRun && log && missed.length > 0) {
    const reasonOf = await explainMissed(log, missed, {
      ...{ tenant, now: clock.now() },
      store: receiver.store,
    });
    missed.sort((one, other) => one.at - other.at);
    const at = (time: number) => `<${String(time)}>`;
    task.reasons = [...new Set(missed.map(reasonOf))].map((reason) => ({
      ...reason,
      text: missReasonText(reason, { tenant, at }),
    }));
    for (const [event, one] of listed) event.reason = reasonOf(one).kind;
  }
}

const nothingKnown = (now: number, since: number, until: number) => {
  const ago = (time: number) => `${Math.ceil((now - time) / 60_000)} min ago`;
  return new RequestError(
    'invalid-request',
    `There is nothing to check: the window ended ${ago(until)}, and the store remembers nothing from before ${ago(since)}. Try again later.`,
  );
};
