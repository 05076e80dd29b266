import {
  COUNTER_SERIES,
  type CounterSeries,
  type OutcomeLog,
  type OutcomeRow,
} from '@call-webhooks/core/stores';
import { ask, readRows } from '../read-rows.ts';
import {
  isOpenFailure,
  OTHERS,
  tenantsOf,
  type CountersAt,
  type Evidence,
  type ReadWindow,
  type Window,
} from './evidence.ts';
import { isNoCheck, periodsWithoutChecks, withoutChecks } from './checks.ts';
import { waitingLetters, type ReadableLetters } from './letters.ts';
import { keysToAsk, windowsToRead } from './judge.ts';
import { coveredName, parsedCovered, type Covered } from './covered.ts';
import { parsedReports, reportsName, type ReconcileReport } from './reconcile-report.ts';
import { THRESHOLDS } from './thresholds.ts';
import type { StatusStore } from './types.ts';

const DAY_MS = 86_400_000;
/** Failures that are looked at, the newest first. */
const MAX_FAILURES = 5_000;
/** Rows of one window that are read, the newest first. */
const MAX_WINDOW_ROWS = 2_000;

/** What `status` is asked for. */
interface Asked {
  readonly expect?: readonly string[] | undefined;
  readonly deadLetters?: ReadableLetters | undefined;
  readonly now?: (() => number) | undefined;
}

/** Reads what the log of a store knows. */
export async function loadEvidence(
  store: StatusStore,
  log: OutcomeLog,
  { expect, deadLetters, now: givenNow }: Asked,
): Promise<Evidence> {
  const { now: storeNow, marks } = await ask('marks of the log', () => log.marks());
  const now = givenNow?.() ?? storeNow;
  const since = now - THRESHOLDS.lookBack;
  const counts = (series: CounterSeries, from: number, prefix?: string) =>
    countersAt(log, series, [from, now + THRESHOLDS.clockDifference], prefix);
  const [outcomes, late, rejected, times, arrivals, rows, processes, reconciled, covered] =
    await Promise.all([
      counts('minutes', since, 'outcome/'),
      counts('minutes', since, 'late/'),
      counts('minutes', since, 'rejected/'),
      counts('times', since),
      counts('arrivals', now - 8 * DAY_MS),
      readFailures(log, since),
      ask('processes of the log', () => log.processes()),
      loadReports(store, marks),
      loadCovered(store, marks),
    ]);
  const known = [store.rememberFor, ...processes.map(({ rememberFor }) => rememberFor)];
  const remembered = known.flatMap((ms) => ms ?? []);
  const rememberFor = remembered.length > 0 ? Math.min(...remembered) : DAY_MS;
  const gathered = {
    ...{ now, thresholds: THRESHOLDS, rememberFor, processes, reconciled, covered, expect },
    marks: withoutChecks(marks, 'marks'),
    minutes: periodsWithoutChecks(merged(outcomes, late, rejected), 'minutes'),
    times: periodsWithoutChecks(times, 'times'),
    arrivals: periodsWithoutChecks(arrivals, 'arrivals'),
    failures: rows.filter((row) => isNoCheck(row) && isOpenFailure(row)),
    deadLettered: rows.filter((row) => isNoCheck(row) && row.outcome === 'dead-lettered'),
    letters: deadLetters && (await waitingLetters(deadLetters, marks)),
  };
  const keys = store.peek ? keysToAsk(gathered) : [];
  const found = keys.length > 0 ? await ask('peek()', async () => store.peek?.(keys)) : [];
  const states = new Map(found && keys.map((key, index) => [key, found[index]]));
  const windows = windowsToRead({ ...gathered, states });
  const read = await Promise.all(windows.map((window) => readWindow(log, window)));
  return { ...gathered, states, read };
}

/** @param times the first and the last one; milliseconds since the epoch */
async function countersAt(
  log: OutcomeLog,
  series: CounterSeries,
  [since, until]: readonly [number, number],
  prefix?: string,
): Promise<CountersAt> {
  const { periodMs } = COUNTER_SERIES[series];
  const [first, last] = [Math.floor(since / periodMs), Math.floor(until / periodMs)];
  const counts = await ask('counters', () => log.counts(series, first, last, prefix));
  return new Map([...counts].map(([period, counters]) => [period * periodMs, counters]));
}

function merged(...all: readonly CountersAt[]): CountersAt {
  const found = new Map<number, Record<string, number>>();
  for (const counters of all)
    for (const [at, counts] of counters) found.set(at, { ...found.get(at), ...counts });
  return found;
}

/** @returns the oldest first */
async function readFailures(log: OutcomeLog, since: number): Promise<readonly OutcomeRow[]> {
  const { rows } = await readRows(log, { only: 'failures', since }, MAX_FAILURES);
  return rows;
}

async function readWindow(log: OutcomeLog, asked: Window): Promise<ReadWindow> {
  const { rows, isWhole } = await readRows(log, asked, MAX_WINDOW_ROWS);
  return {
    ...asked,
    asked,
    rows: rows.filter(isNoCheck),
    ...(!isWhole && rows[0] && { since: rows[0].at }),
  };
}

/** What reconcilers found in their last runs. */
async function loadReports(
  store: StatusStore,
  marks: Evidence['marks'],
): Promise<readonly ReconcileReport[]> {
  const all = await loadCursors(store, marks, reportsName);
  return all.flatMap(([tenant, text]) => parsedReports(text, tenant));
}

async function loadCovered(
  store: StatusStore,
  marks: Evidence['marks'],
): Promise<ReadonlyMap<string, Covered>> {
  const all = await loadCursors(store, marks, coveredName);
  return new Map(all.map(([tenant = '', text]) => [tenant, parsedCovered(text)]));
}

/** Of receivers without tenants, and of each tenant of which deliveries come. */
async function loadCursors(
  store: StatusStore,
  marks: Evidence['marks'],
  nameOf: (tenant: string | undefined) => string,
): Promise<readonly (readonly [tenant: string | undefined, text: string | undefined])[]> {
  if (!store.loadCursor) return [];
  const tenants = tenantsOf(marks).filter((tenant) => tenant !== OTHERS);
  return Promise.all(
    [undefined, ...tenants].map(
      async (tenant) =>
        [
          tenant,
          await ask('loadCursor()', async () => store.loadCursor?.(nameOf(tenant))),
        ] as const,
    ),
  );
}
