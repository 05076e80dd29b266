import type { OutcomeCode } from '@call-webhooks/core';
import { counterParts } from '@call-webhooks/core/stores';
import { groupedBy, sumOf, type Evidence, type SeenEvent } from './evidence.ts';
import type { Finding } from './findings.ts';
import type { Thresholds } from './thresholds.ts';

/** Deliveries of one minute that could not be verified. */
interface Rejected {
  /** When the minute began; milliseconds since the epoch. */
  readonly at: number;
  readonly tenant: string;
  readonly outcome: OutcomeCode;
  readonly count: number;
}

/**
 * Deliveries that could not be verified again and again. A real one is sent again, a single forged one is not;
 * and an event has to be missing since then, before anybody says that it is concerned.
 */
export function findRejected(
  evidence: Evidence,
  seen: ReadonlyMap<string, SeenEvent>,
): readonly Finding[] {
  const events = groupedBy(seen.values(), ({ tenant }) => tenant);
  const found: Finding[] = [];
  const unknown: Rejected[] = [];
  for (const [tenant, rejected] of groupedBy(rejectedMinutes(evidence), ({ tenant }) => tenant)) {
    const own = events.get(tenant);
    if (own) found.push(...ofTenant(evidence, own, rejected));
    else unknown.push(...rejected);
  }
  return [...found, ...ofUnknownTenants(evidence, unknown, seen.size === 0)];
}

function rejectedMinutes({ minutes }: Evidence): readonly Rejected[] {
  const found: Rejected[] = [];
  for (const [at, counters] of minutes)
    for (const [name, count] of Object.entries(counters)) {
      const [kind, outcome, tenant = ''] = counterParts(name);
      if (kind === 'rejected') found.push({ at, tenant, outcome: outcome as OutcomeCode, count });
    }
  return found.sort((one, other) => one.at - other.at);
}

const MINUTE_MS = 60_000;

function ofTenant(
  evidence: Evidence,
  own: readonly SeenEvent[],
  rejected: readonly Rejected[],
): readonly Finding[] {
  const { thresholds } = evidence;
  const missing = own.flatMap((event) => {
    const since = rejected.filter(({ at }) => at + MINUTE_MS > event.arrivedAt);
    const run = repeated(since, thresholds);
    return run ? [{ event, run }] : [];
  });
  const [first] = missing.sort((one, other) => other.run.length - one.run.length);
  if (!first) return recently(evidence, rejected, own[0]?.tenant ?? '', { isKnown: true });
  const events = missing.map(({ event }) => event);
  const { tenant, eventName } = first.event;
  return [
    {
      ...{ what: 'rejected-events', kind: 'rejected', urgent: true, tenant, events },
      eventName: events.length === 1 ? eventName : '',
      ...summary(first.run),
    },
  ];
}

/** A tenant is named by a request that was not verified: anybody can make up any number of them. */
function ofUnknownTenants(
  evidence: Evidence,
  rejected: readonly Rejected[],
  isNew: boolean,
): readonly Finding[] {
  const tenants = new Set(rejected.map(({ tenant }) => tenant));
  const [tenant = ''] = tenants.size === 1 ? tenants : [];
  const unknownTenants = tenants.has('') ? 0 : tenants.size;
  return recently(evidence, rejected, tenant, {
    isKnown: !isNew && unknownTenants === 0,
    unknownTenants,
  });
}

function recently(
  { now, thresholds }: Evidence,
  rejected: readonly Rejected[],
  tenant: string,
  { isKnown, unknownTenants = 0 }: { isKnown: boolean; unknownTenants?: number },
): readonly Finding[] {
  const run = repeated(
    rejected.filter(({ at }) => at >= now - thresholds.rejectedFor),
    thresholds,
  );
  if (!run) return [];
  const of = { kind: 'rejected', urgent: false, tenant, eventName: '' } as const;
  return [{ what: 'rejected-only', ...of, ...summary(run), isKnown, unknownTenants }];
}

/** From the first series of rejections on that goes on as long as a retry takes. */
function repeated(
  rejected: readonly Rejected[],
  { rejectedPause, retriedAfter }: Thresholds,
): readonly Rejected[] | undefined {
  let from = 0;
  for (const [index, { at }] of rejected.entries()) {
    if (at - (rejected[index - 1]?.at ?? at) > rejectedPause) from = index;
    if (at - (rejected[from]?.at ?? at) >= retriedAfter) return rejected.slice(from);
  }
  return undefined;
}

function summary(run: readonly Rejected[]): { since: number; count: number; outcome: OutcomeCode } {
  const [first] = run as [Rejected];
  const last = run.at(-1) ?? first;
  return { since: first.at, count: sumOf(run.map(({ count }) => count)), outcome: last.outcome };
}
