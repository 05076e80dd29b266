import type { Evidence } from './evidence.ts';
import type { Finding } from './findings.ts';

/** Events that the last run of a reconciler found, and that no delivery had come for. */
export function findReconciled({ now, reconciled, thresholds }: Evidence): readonly Finding[] {
  return reconciled
    .filter(({ at }) => now - at <= thresholds.reconciledFor)
    .flatMap(({ tenant = '', at, since, until, dryRun, missed }) =>
      Object.entries(missed)
        .filter(([, count]) => count > 0)
        .map(([eventName, count]) => ({
          ...{ what: 'reconciled', kind: 'missed', urgent: false },
          ...{ tenant, eventName, since, count, at, until, isDryRun: dryRun },
        })),
    );
}
