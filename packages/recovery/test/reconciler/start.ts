import {
  startReconciler,
  type MissedReport,
  type Reconciler,
  type ReconcilerOptions,
  type ReconcileResult,
} from '@call-webhooks/recovery';
import { manualClock } from '../support/manual-clock.ts';
import { closeLater, type World } from '../support/world.ts';

/** @param aheadMs how far the clock of the reconciler is ahead of the service's; milliseconds */
export async function start(
  world: World,
  options: Partial<ReconcilerOptions> = {},
  aheadMs?: number,
) {
  const { client, receiver, log } = world;
  const clock = manualClock(world.simulator, aheadMs);
  const reports: MissedReport[] = [];
  const results: ReconcileResult[] = [];
  const errors: unknown[] = [];
  const begin = (more: Partial<ReconcilerOptions> = {}): Reconciler =>
    closeLater(
      startReconciler({
        ...{ client, receiver, clock, logger: log },
        onMissed: (report) => void reports.push(report),
        onRun: (result) => void results.push(result),
        onError: (error) => void errors.push(error),
        ...options,
        ...more,
      }),
    );
  const reconciler = begin();
  await clock.settled();
  return { clock, reconciler, begin, reports, results, errors };
}
