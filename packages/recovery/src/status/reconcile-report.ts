import { tenantKey } from '@call-webhooks/core/internal';

/** What the last run of a reconciler found, as the store keeps it. */
export interface ReconcileReport {
  readonly tenant?: string | undefined;
  /** The name of the reconciler. */
  readonly name: string;
  /** When the run ended; milliseconds since the epoch. */
  readonly at: number;
  /** Calls that began between these times were looked at; milliseconds since the epoch. */
  readonly since: number;
  readonly until: number;
  /** Whether it ran nothing. */
  readonly dryRun: boolean;
  /** How many events were missed, by their names. */
  readonly missed: Readonly<Record<string, number>>;
}

/** Reconcilers of one tenant that have different names. */
const MAX_NAMES = 20;

/** The name of the cursor under which the reconcilers of a tenant keep what they found. */
export const reportsName = (tenant: string | undefined): string =>
  tenantKey(tenant, 'call-webhooks.reconciled');

/**
 * Adds a report to those that were saved for its tenant: each name has one.
 * @param saved the text of the cursor
 */
export function withReport(saved: string | undefined, report: ReconcileReport): string {
  const others = parsedReports(saved, report.tenant).filter(({ name }) => name !== report.name);
  const newest = [...others, report].sort((one, other) => one.at - other.at).slice(-MAX_NAMES);
  return JSON.stringify(newest.map(({ tenant: _, ...kept }) => kept));
}

/**
 * The reports of a tenant. What cannot be read counts as none.
 * @param saved the text of the cursor
 */
export function parsedReports(
  saved: string | undefined,
  tenant: string | undefined,
): readonly ReconcileReport[] {
  try {
    const reports: unknown = JSON.parse(saved ?? '[]');
    return Array.isArray(reports)
      ? reports.filter(isReport).map((report) => ({ ...report, tenant }))
      : [];
  } catch {
    return [];
  }
}

function isReport(value: unknown): value is Omit<ReconcileReport, 'tenant'> {
  const { name, at, since, until, missed } = Object(value) as Partial<ReconcileReport>;
  const areNumbers = [at, since, until].every((time) => typeof time === 'number');
  return typeof name === 'string' && areNumbers && typeof missed === 'object';
}
