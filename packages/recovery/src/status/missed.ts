import { isCovered } from './covered.ts';
import type { Evidence } from './evidence.ts';
import type { Finding } from './findings.ts';
import { reconcilableSince } from './reconcile-advice.ts';

/** Events that the last run of a reconciler found, and that no delivery had come for. */
export function findReconciled(evidence: Evidence): readonly Finding[] {
  const { now, reconciled, covered, thresholds } = evidence;
  const oldest = reconcilableSince(evidence);
  return reconciled
    .filter(({ at }) => now - at <= thresholds.reconciledFor)
    .flatMap(({ tenant = '', at, since, until, dryRun, missed }) =>
      Object.entries(missed)
        .filter(([, count]) => count > 0)
        // What a dry run found, another run may have handled since.
        .filter(([eventName]) => {
          const rest = { since: Math.max(since, oldest), until };
          return !dryRun || !isCovered(covered.get(tenant), eventName, rest);
        })
        .map(([eventName, count]) => ({
          ...{ what: 'reconciled', kind: 'missed', urgent: false },
          ...{ tenant, eventName, since, count, at, until, isDryRun: dryRun },
        })),
    );
}
