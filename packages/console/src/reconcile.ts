import { redactId } from '@call-webhooks/core/internal';
import {
  reconcile,
  SETTLE_FOR_MS,
  type ReconciledEvent,
  type ReconcileOptions,
  type ReconcileResult,
} from '@call-webhooks/recovery';
import type { ReconcileRequest, ReconcileTask } from './api-types.ts';
import type { DeliveryReader } from './deliveries.ts';
import { RequestError } from './http/answer.ts';
import { missReasons } from './miss-reasons.ts';
import type { ConsoleSettings } from './options.ts';
import type { OverviewReader } from './overview.ts';

const MAX_TO_RUN = 200;
const MAX_OTHERS = 50;
const MAX_EARLIER = 10;

/** The options of `reconcile` of `@call-webhooks/recovery`, without those that the console sets. */
export type ConsoleReconcile = Omit<
  ReconcileOptions,
  'receiver' | 'name' | 'since' | 'until' | 'dryRun' | 'onEvent' | 'onProgress' | 'signal' | 'now'
>;

const nothingYet = (): ReconcileResult => ({
  ...{ seen: 0, missed: 0, handled: 0, known: 0, inDeadLetters: 0 },
  ...{ failed: 0, ignored: 0, skipped: 0, stoppedEarly: false },
});

/**
 * What a run has before it begins.
 * @throws RequestError `invalid-request` if the store knows nothing of the window, or cannot tell it
 */
export function newReconcile(
  { dryRun, since: askedSince, until: asked }: ReconcileRequest,
  before: ReconcileTask | null,
  { receiver, reconcile: options, now: clock }: ConsoleSettings,
) {
  const now = clock();
  const until = Math.min(asked ?? now - SETTLE_FOR_MS, now);
  // What was handled before would look missed, and would be run again.
  const { rememberFor, peek } = options?.store ?? receiver.store;
  if (dryRun && !peek)
    throw new RequestError(
      'invalid-request',
      'The store has no peek(), so nobody can tell which events it knows: there is no dry run.',
    );
  const knownSince = rememberFor === undefined ? -Infinity : Math.ceil(now - rememberFor);
  const since = Math.max(askedSince, knownSince);
  if (since > askedSince && since >= until) throw nothingKnown(now, since, until);
  return {
    ...{ dryRun, since, until },
    ...(since > askedSince && { askedSince }),
    counts: nothingYet(),
    events: [],
    reasons: !dryRun && before?.dryRun && before.until === until ? before.reasons : [],
    earlier: before ? [withoutEvents(before), ...before.earlier].slice(0, MAX_EARLIER) : [],
  };
}

const withoutEvents = ({ events: _1, reasons: _2, earlier: _3, ...run }: ReconcileTask) => run;

/** Rejects with what `reconcile` rejects with. */
export async function runReconcile(
  task: ReconcileTask,
  signal: AbortSignal,
  settings: ConsoleSettings & { reconcile: ConsoleReconcile },
  { overview, deliveries }: { overview: OverviewReader; deliveries: DeliveryReader },
): Promise<void> {
  const { dryRun } = task;
  const { receiver, now } = settings;
  const missedAt: number[] = [];
  let [toRun, others] = [0, 0];
  const onEvent = ({ callId, event, at, outcome, state, missed }: ReconciledEvent) => {
    if (missed) missedAt.push(at.getTime());
    const isToRun = missed || state === 'failed';
    if (isToRun) toRun += 1;
    else others += 1;
    if (isToRun ? toRun > MAX_TO_RUN : others > MAX_OTHERS) return;
    task.events.push({
      ...{
        callId: redactId(callId),
        eventName: redactId(event.eventName),
        at: at.getTime(),
        missed,
      },
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
    ...{ dryRun, now, onEvent, signal },
    onProgress: (result) => (task.counts = result),
  });
  const { log } = receiver.store;
  if (dryRun && log && missedAt.length > 0) {
    const [minutes, processes, settled] = await Promise.all([
      overview.counts(log, now()),
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
