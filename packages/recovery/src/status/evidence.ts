import { OUTCOMES } from '@call-webhooks/core';
import {
  counterParts,
  type EventState,
  type OutcomeRow,
  type SeenProcess,
} from '@call-webhooks/core/stores';
import type { Covered } from './covered.ts';
import type { ReconcileReport } from './reconcile-report.ts';
import type { Thresholds } from './thresholds.ts';

/** Counters by the time at which their period begins; milliseconds since the epoch. */
export type CountersAt = ReadonlyMap<number, Readonly<Record<string, number>>>;

/** All that a status is judged by. It says the same whenever it is judged. */
export interface Evidence {
  /** Milliseconds since the epoch, by the store's clock. */
  readonly now: number;
  readonly thresholds: Thresholds;
  readonly marks: Readonly<Record<string, number>>;
  /** Of each minute of the last 26 hours. */
  readonly minutes: CountersAt;
  /** Of every ten minutes of the last 26 hours. */
  readonly times: CountersAt;
  /** Of every ten minutes of the last 8 days. */
  readonly arrivals: CountersAt;
  /** Deliveries of the last 26 hours that the service sends again (`isOpenFailure`), the oldest first. */
  readonly failures: readonly OutcomeRow[];
  /** Deliveries and jobs of the last 26 hours whose event became a dead letter. */
  readonly deadLettered: readonly OutcomeRow[];
  /** The dead letters that wait; absent if they cannot be read. */
  readonly letters?: ReadLetters | undefined;
  /** Rows of any kind that `windowsToRead` asked for. */
  readonly read: readonly ReadWindow[];
  readonly processes: readonly SeenProcess[];
  /** What the store knows of the events of `keysToAsk`. */
  readonly states: ReadonlyMap<string, EventState | undefined>;
  /** For how long the store knows a handled event; milliseconds. */
  readonly rememberFor: number;
  readonly reconciled: readonly ReconcileReport[];
  /** Of which times reconcile runs have run what was missed, by tenant; empty without tenants. */
  readonly covered: ReadonlyMap<string, Covered>;
  /** The events whose silence is reported; all by default. */
  readonly expect?: readonly string[] | undefined;
}

/** An error that is more frequent than the others. */
export interface CommonError {
  /** As `causeOf` gives it; or an outcome, if the rows have no error. */
  readonly text: string;
  /** How many of all have it. */
  readonly count: number;
  readonly of: number;
}

/** What waits in a dead-letter store, or among the dead jobs of a queue. */
export interface ReadLetters {
  /** Whose outcomes in the log are those of these letters. */
  readonly source: 'webhook' | 'queue';
  readonly waiting: readonly WaitingLetters[];
}

/** The dead letters of one event name of one tenant. */
export interface WaitingLetters {
  readonly tenant: string;
  readonly eventName: string;
  readonly count: number;
  /** Since when the oldest one has been a dead letter; milliseconds since the epoch. */
  readonly since: number;
  readonly most: CommonError | undefined;
}

/** A time of which the single rows are needed; milliseconds since the epoch, both included. */
export interface Window {
  readonly since: number;
  readonly until: number;
}

/** The rows of a window. If there were too many, it begins later: with the oldest one that was read. */
export interface ReadWindow extends Window {
  /** The window that was asked for. */
  readonly asked: Window;
  /** The oldest first. */
  readonly rows: readonly OutcomeRow[];
}

/** What was read of a window; nothing if it was not asked for. */
export const readOf = (read: readonly ReadWindow[], { since, until }: Window): ReadWindow =>
  read.find(({ asked }) => asked.since === since && asked.until === until) ?? {
    ...{ since: until, until, rows: [] },
    asked: { since, until },
  };

/**
 * When the first and the last row of a kind came in a period, if their rows were read; else when the period began.
 * Clocks of processes may differ from the one of the store, by which rows are told.
 */
export function exactTimes(
  read: readonly ReadWindow[],
  { since, until }: Window,
  isOne: (row: OutcomeRow) => boolean,
): { readonly first: number; readonly last: number } {
  const times = read
    .flatMap(({ rows }) => rows.filter(({ at }) => at >= since && at <= until))
    .flatMap((row) => (isOne(row) ? [row.at] : []));
  if (times.length === 0) return { first: since, last: since };
  return { first: Math.min(...times), last: Math.max(...times) };
}

/** One event name of one tenant, whose deliveries were verified. */
export interface SeenEvent {
  /** Empty without tenants. */
  readonly tenant: string;
  readonly eventName: string;
  /** When a delivery came last, and which secret verified it. */
  readonly arrivedAt: number;
  readonly secretId: string;
  /** When one was acknowledged last, and when one was not; 0 if never. */
  readonly acknowledgedAt: number;
  readonly failedAt: number;
}

/** By how much a failure may be older than the last success and still be the last thing that happened; milliseconds. */
export const SAME_TIME_MS = 30_000;

/** What a process counts beyond its first 100 tenants or event names. */
export const OTHERS = '*';

/** Identifies an event name of a tenant. */
export const eventId = ({ tenant, eventName }: Pick<SeenEvent, 'tenant' | 'eventName'>): string =>
  JSON.stringify([tenant, eventName]);

/** The events that the marks tell of, by `eventId`. */
export function seenEvents({ marks }: Pick<Evidence, 'marks'>): ReadonlyMap<string, SeenEvent> {
  const found = new Map<string, SeenEvent>();
  for (const [name, at] of Object.entries(marks)) {
    const [result, tenant = '', eventName = '', secretId = ''] = counterParts(name);
    if (result !== 'ack' && result !== 'failed') continue;
    const id = eventId({ tenant, eventName });
    const one = found.get(id) ?? { ...NEVER, tenant, eventName };
    found.set(id, {
      ...one,
      ...(at > one.arrivedAt && { arrivedAt: at, secretId }),
      ...(result === 'ack'
        ? { acknowledgedAt: Math.max(one.acknowledgedAt, at) }
        : { failedAt: Math.max(one.failedAt, at) }),
    });
  }
  return found;
}

/** The tenants of which verified deliveries have arrived, by name. */
export function tenantsOf(marks: Evidence['marks']): readonly string[] {
  const tenants = new Set([...seenEvents({ marks }).values()].map(({ tenant }) => tenant));
  tenants.delete('');
  return [...tenants].sort();
}

const NEVER = { arrivedAt: 0, secretId: '', acknowledgedAt: 0, failedAt: 0 };

/** Values in groups, in the order in which each group came first. */
export function groupedBy<Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => string,
): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}

/** These have a rule of their own, since they name no event. */
export const REJECTIONS = [
  'signature-mismatch',
  'timestamp-out-of-tolerance',
  'body-already-parsed',
  'secret-unavailable',
] as const;

/** Whether the service was not told that it is done, and retries. A replay is not retried. */
export const isOpenFailure = ({ source, late, outcome }: OutcomeRow): boolean =>
  source === 'webhook' &&
  late !== true &&
  OUTCOMES[outcome].service === 'retried' &&
  outcome !== 'replayed' &&
  !(REJECTIONS as readonly string[]).includes(outcome);

/** A sum of what was counted. */
export const sumOf = (counts: Iterable<number>): number => {
  let sum = 0;
  for (const count of counts) sum += count;
  return sum;
};
